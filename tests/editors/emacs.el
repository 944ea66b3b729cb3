;;; emacs.el --- Functions for the tests of both clients  -*- lexical-binding: t; -*-

(require 'cl-lib)

(defvar podlens-label "emacs")

(defun podlens-print (line)
  "Print LINE on stdout."
  (princ (concat line "\n")))

(defmacro podlens-test (name &rest body)
  "Run BODY as the test NAME."
  (declare (indent 1))
  `(condition-case err
       (progn ,@body (podlens-print (format "ok - %s: %s" podlens-label ,name)))
     (error (podlens-print (format "not ok - %s: %s: %s" podlens-label ,name
                                 (replace-regexp-in-string "[ \n\t]+" " " (format "%s" err)))))))

(defun podlens-wait (what check)
  "Wait until CHECK returns non-nil; WHAT names it in the error."
  (let ((end (+ (float-time) 90)) found)
    (while (and (not (setq found (funcall check))) (< (float-time) end))
      (accept-process-output nil 0.1))
    (or found (error "timed out waiting for %s" what))))

(defun podlens-after (text)
  "Put point after TEXT."
  (goto-char (point-min))
  (search-forward text))

(defun podlens-expect (text in)
  "Fail unless IN contains TEXT."
  (unless (string-match-p (regexp-quote text) in)
    (error "%s not found in %s" text in)))

;;; emacs.el ends here
