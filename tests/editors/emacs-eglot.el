;;; emacs-eglot.el --- podlens with eglot  -*- lexical-binding: t; -*-

(setq podlens-label "emacs with eglot"
      eglot-sync-connect 90
      eglot-connect-timeout 90)
(require 'yaml-mode)
(require 'podlens-eglot)
(require 'flymake)
;; The settings as they are shipped, and one more, to see that settings count.
(setq-default eglot-workspace-configuration
              (let ((shipped (plist-get (default-value 'eglot-workspace-configuration) :podlens)))
                (list :podlens (append shipped '(:rules (:shadowed-source "off"))))))
;; The machine may be busy.
(setq jrpc-default-request-timeout 90)

(defun podlens-findings ()
  "All findings in this buffer."
  (mapconcat (lambda (it) (flymake-diagnostic-text it)) (flymake-diagnostics) "\n"))

(defun podlens-completions ()
  "What is offered at point."
  (let* ((capf (eglot-completion-at-point))
         (table (nth 2 capf)))
    (all-completions (buffer-substring-no-properties (nth 0 capf) (nth 1 capf)) table)))

(find-file "web.yaml")
(podlens-test "starts the server"
  ;; A hook defers this until a command ends, which batch mode has none of.
  (apply #'eglot (eglot--guess-contact))
  (podlens-wait "a server" #'eglot-current-server))
(podlens-test "shows diagnostics"
  (podlens-wait "the findings"
                (lambda () (flymake-start)
                  (and (string-match-p "declared only later" (podlens-findings))
                       (string-match-p "nothing defines" (podlens-findings))))))
(podlens-test "takes the settings"
  (podlens-wait "the rule that is off to keep silent"
                (lambda () (flymake-start)
                  (and (string-match-p "declared only later" (podlens-findings))
                       (not (string-match-p "hides the key" (podlens-findings)))))))
(podlens-test "hovers"
  (podlens-after "--url=$(UR")
  (podlens-expect "https://shop.example.com/en"
                  (format "%s" (jsonrpc-request (eglot-current-server) :textDocument/hover
                                                (eglot--TextDocumentPositionParams)))))
(podlens-test "completes"
  (podlens-after "value: https://$(")
  (podlens-expect "HOST" (format "%s" (podlens-completions))))
(podlens-test "clears a diagnostic with an edit"
  (podlens-after "$(VISITOR)")
  (replace-match "all")
  (eglot--signal-textDocument/didChange)
  (podlens-wait "the finding going away"
                (lambda () (flymake-start)
                  (and (string-match-p "declared only later" (podlens-findings))
                       (not (string-match-p "nothing defines" (podlens-findings)))))))
(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))

;;; emacs-eglot.el ends here
