;;; emacs.el --- What the tests of both clients share  -*- lexical-binding: t; -*-

(require 'cl-lib)

(defvar podlens-label "emacs")

(defun podlens-say (line)
  "Print LINE on stdout."
  (princ (concat line "\n")))

(defmacro podlens-test (name &rest body)
  "Run BODY as the test NAME."
  (declare (indent 1))
  `(condition-case err
       (progn ,@body (podlens-say (format "ok - %s: %s" podlens-label ,name)))
     (error (podlens-say (format "not ok - %s: %s: %s" podlens-label ,name
                                 (replace-regexp-in-string "[ \n\t]+" " " (format "%s" err)))))))

(defun podlens-wait (what check)
  "Wait until CHECK gives something; WHAT says what for."
  (let ((end (+ (float-time) 90)) found)
    (while (and (not (setq found (funcall check))) (< (float-time) end))
      (accept-process-output nil 0.1))
    (or found (error "%s did not happen" what))))

(defun podlens-after (text)
  "Put point after TEXT."
  (goto-char (point-min))
  (search-forward text))

(defun podlens-expect (text in)
  "Fail unless TEXT is IN."
  (unless (string-match-p (regexp-quote text) in)
    (error "No %s in %s" text in)))

;;; emacs.el ends here
