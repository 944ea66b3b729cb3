;;; emacs-lsp-mode.el --- podlens with lsp-mode  -*- lexical-binding: t; -*-

(setq podlens-label "emacs with lsp-mode"
      lsp-auto-guess-root t
      lsp-guess-root-without-session t
      lsp-enable-file-watchers nil
      lsp-restart 'ignore
      ;; The machine may be busy.
      lsp-response-timeout 90
      lsp-enabled-clients '(podlens)
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
(require 'podlens-lsp-mode)

(defun podlens-findings ()
  "All findings of this file."
  (format "%s" (lsp-diagnostics t)))

(find-file "web.yaml")
(podlens-test "starts the server"
  ;; The hook defers this until the buffer is shown, which batch mode never does.
  (lsp)
  (podlens-wait "a workspace"
                (lambda () (and lsp--buffer-workspaces
                                (eq 'initialized (lsp--workspace-status (car lsp--buffer-workspaces)))))))
(podlens-test "shows diagnostics"
  (podlens-wait "the findings"
                (lambda () (let ((found (format "%S" (gethash (lsp--fix-path-casing buffer-file-name) (lsp-diagnostics t)))))
                             (and (string-match-p "declared only later" found)
                                  (string-match-p "nothing defines" found))))))
(podlens-test "hovers"
  (podlens-after "--url=$(UR")
  (podlens-expect "https://shop.example.com/en"
                  (format "%S" (lsp-request "textDocument/hover" (lsp--text-document-position-params)))))
(podlens-test "completes"
  (podlens-after "value: https://$(")
  (podlens-expect "HOST" (format "%S" (lsp-request "textDocument/completion" (lsp--text-document-position-params)))))
(podlens-test "clears a diagnostic with an edit"
  (podlens-after "$(VISITOR)")
  (replace-match "all")
  (podlens-wait "the finding going away"
                (lambda () (let ((found (format "%S" (gethash (lsp--fix-path-casing buffer-file-name) (lsp-diagnostics t)))))
                             (and (string-match-p "declared only later" found)
                                  (not (string-match-p "nothing defines" found)))))))
(set-buffer-modified-p nil)
(ignore-errors (lsp-workspace-shutdown (car lsp--buffer-workspaces)))

;;; emacs-lsp-mode.el ends here
