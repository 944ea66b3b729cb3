;;; emacs-eglot.el --- podlens with eglot  -*- lexical-binding: t; -*-

(setq podlens-label "emacs with eglot"
      eglot-sync-connect 90
      eglot-connect-timeout 90)
(require 'yaml-mode)
(require 'podlens-eglot)
(require 'flymake)
;; The shipped settings and one more, to test that settings are applied.
(setq-default eglot-workspace-configuration
              (let ((shipped (plist-get (default-value 'eglot-workspace-configuration) :podlens)))
                (list :podlens (append shipped '(:rules (:collapsed-dollar "off"))))))
;; Long timeouts, since the machine may be busy.
(setq jrpc-default-request-timeout 90)

(defun podlens-findings ()
  "The findings in this buffer, with the diagnostics that the server sent."
  (format "%S" (mapcar #'flymake-diagnostic-data (flymake-diagnostics))))

(defun podlens-completions ()
  "The completions at point."
  (let* ((capf (eglot-completion-at-point))
         (table (nth 2 capf)))
    (all-completions (buffer-substring-no-properties (nth 0 capf) (nth 1 capf)) table)))

(find-file "web.yaml")
(podlens-test "starts the server"
  ;; The hook runs after a command, and batch mode has no commands.
  (apply #'eglot (eglot--guess-contact))
  (podlens-wait "a server" #'eglot-current-server))
(podlens-test "shows diagnostics"
  (podlens-wait "the findings"
                (lambda () (flymake-start)
                  (and (string-match-p "forward-reference" (podlens-findings))
                       (string-match-p "undefined-variable" (podlens-findings))))))
(podlens-test "applies the settings"
  (podlens-wait "no finding of the rule that is off"
                (lambda () (flymake-start)
                  (and (string-match-p "forward-reference" (podlens-findings))
                       (not (string-match-p "collapsed-dollar" (podlens-findings)))))))
(podlens-test "shows a hover"
  (podlens-after "--url=$(UR")
  (podlens-expect "https://shop.example.com/en"
                  (format "%s" (jsonrpc-request (eglot-current-server) :textDocument/hover
                                                (eglot--TextDocumentPositionParams)))))
(podlens-test "offers completions"
  (podlens-after "value: https://$(")
  (podlens-expect "HOST" (format "%s" (podlens-completions))))
(podlens-test "clears a diagnostic with an edit"
  (podlens-after "$(VISITOR)")
  (replace-match "all")
  (eglot--signal-textDocument/didChange)
  (podlens-wait "the finding to be removed"
                (lambda () (flymake-start)
                  (and (string-match-p "forward-reference" (podlens-findings))
                       (not (string-match-p "undefined-variable" (podlens-findings)))))))
(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))

;;; emacs-eglot.el ends here
