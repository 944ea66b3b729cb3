;;; emacs-lsp-mode.el --- podlens with lsp-mode  -*- lexical-binding: t; -*-

(setq podlens-label "emacs with lsp-mode"
      lsp-auto-guess-root t
      lsp-guess-root-without-session t
      lsp-enable-file-watchers nil
      lsp-restart 'ignore
      ;; The machine may be busy.
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
;; The settings as they are shipped, and one more, to see that settings count.
(setq podlens-settings (append podlens-settings '(:rules (:shadowed-source "off"))))

(defun podlens-findings ()
  "All findings of this file."
  (format "%S" (gethash (lsp--fix-path-casing buffer-file-name) (lsp-diagnostics t))))

(defun podlens-servers ()
  "The servers that are ready for this buffer."
  (mapcar (lambda (it) (lsp--client-server-id (lsp--workspace-client it)))
          (seq-filter (lambda (it) (eq 'initialized (lsp--workspace-status it))) lsp--buffer-workspaces)))

(find-file "web.yaml")
(podlens-test "starts the server"
  ;; The hook defers this until the buffer is shown, which batch mode never does.
  (lsp)
  (podlens-wait "the server" (lambda () (memq 'podlens (podlens-servers)))))
(podlens-test "runs beside yaml-language-server"
  (podlens-wait "both servers" (lambda () (and (memq 'podlens (podlens-servers)) (memq 'yamlls (podlens-servers))))))
(podlens-test "shows diagnostics"
  (podlens-wait "the findings"
                (lambda () (and (string-match-p "declared only later" (podlens-findings))
                                (string-match-p "nothing defines" (podlens-findings))))))
(podlens-test "takes the settings"
  (podlens-wait "the rule that is off to keep silent"
                (lambda () (and (string-match-p "declared only later" (podlens-findings))
                                (not (string-match-p "hides the key" (podlens-findings)))))))
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
                (lambda () (and (string-match-p "declared only later" (podlens-findings))
                                (not (string-match-p "nothing defines" (podlens-findings)))))))
(set-buffer-modified-p nil)
(mapc (lambda (it) (ignore-errors (lsp-workspace-shutdown it))) lsp--buffer-workspaces)

;;; emacs-lsp-mode.el ends here
