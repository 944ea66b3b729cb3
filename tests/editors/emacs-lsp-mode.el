;;; emacs-lsp-mode.el --- podlens with lsp-mode  -*- lexical-binding: t; -*-

(setq podlens-label "emacs with lsp-mode"
      lsp-auto-guess-root t
      lsp-guess-root-without-session t
      lsp-enable-file-watchers nil
      lsp-restart 'ignore
      ;; Long timeouts, since the machine may be busy.
      lsp-response-timeout 90
      lsp-enabled-clients '(podlens yamlls)
      lsp-yaml-schema-store-enable nil
      lsp-session-file (expand-file-name "lsp-session" (getenv "HOME"))
      lsp-diagnostics-provider :none
      lsp-modeline-workspace-status-enable nil
      lsp-modeline-diagnostics-enable nil
      lsp-modeline-code-actions-enable nil
      lsp-headerline-breadcrumb-enable nil
      lsp-lens-enable nil
      lsp-enable-snippet nil
      lsp-warn-no-matched-clients nil)
(require 'yaml-mode)
(require 'lsp-yaml)
(require 'podlens-lsp-mode)
;; The shipped settings and one more, to test that settings are applied.
(setq podlens-settings (append podlens-settings '(:rules (:collapsed-dollar "off"))))

(defun podlens-findings ()
  "The findings in this file."
  (format "%S" (gethash (lsp--fix-path-casing buffer-file-name) (lsp-diagnostics t))))

(defun podlens-servers ()
  "The servers that are ready for this buffer."
  (mapcar (lambda (it) (lsp--client-server-id (lsp--workspace-client it)))
          (seq-filter (lambda (it) (eq 'initialized (lsp--workspace-status it))) lsp--buffer-workspaces)))

(find-file "web.yaml")
(podlens-test "starts the server"
  ;; The hook waits until the buffer is shown, which does not happen in batch mode.
  (lsp)
  (podlens-wait "the server" (lambda () (memq 'podlens (podlens-servers)))))
(podlens-test "runs together with yaml-language-server"
  (podlens-wait "both servers" (lambda () (and (memq 'podlens (podlens-servers)) (memq 'yamlls (podlens-servers))))))
(podlens-test "shows diagnostics"
  (podlens-wait "the findings"
                (lambda () (and (string-match-p "forward-reference" (podlens-findings))
                                (string-match-p "undefined-variable" (podlens-findings))))))
(podlens-test "applies the settings"
  (podlens-wait "no finding of the rule that is off"
                (lambda () (and (string-match-p "forward-reference" (podlens-findings))
                                (not (string-match-p "collapsed-dollar" (podlens-findings)))))))
(podlens-test "shows a hover"
  (podlens-after "--url=$(UR")
  (podlens-expect "https://shop.example.com/en"
                  (format "%S" (lsp-request "textDocument/hover" (lsp--text-document-position-params)))))
(podlens-test "offers completions"
  (podlens-after "value: https://$(")
  (podlens-expect "HOST" (format "%S" (lsp-request "textDocument/completion" (lsp--text-document-position-params)))))
(podlens-test "clears a diagnostic with an edit"
  (podlens-after "$(VISITOR)")
  (replace-match "all")
  (podlens-wait "the finding to be removed"
                (lambda () (and (string-match-p "forward-reference" (podlens-findings))
                                (not (string-match-p "undefined-variable" (podlens-findings)))))))
(set-buffer-modified-p nil)
(mapc (lambda (it) (ignore-errors (lsp-workspace-shutdown it))) lsp--buffer-workspaces)

;;; emacs-lsp-mode.el ends here
