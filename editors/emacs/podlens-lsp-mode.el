;;; podlens-lsp-mode.el --- podlens with lsp-mode  -*- lexical-binding: t; -*-

;; As an add-on, podlens runs together with yaml-language-server.

;;; Code:

(require 'lsp-mode)

(defcustom podlens-command '("podlens" "lsp")
  "The command that starts the server."
  :group 'lsp-mode
  :type '(repeat string))

(defcustom podlens-settings '(:unknown "auto")
  "Keys of podlens.yaml; they apply where the project's podlens.yaml does not set them."
  :group 'lsp-mode
  :type 'plist)

(lsp-register-client
 (make-lsp-client
  :new-connection (lsp-stdio-connection (lambda () podlens-command))
  :activation-fn (lambda (_file mode) (memq mode '(yaml-mode yaml-ts-mode)))
  :add-on? t
  :priority -1
  :initialization-options (lambda () podlens-settings)
  :server-id 'podlens))

(dolist (hook '(yaml-mode-hook yaml-ts-mode-hook))
  (add-hook hook #'lsp-deferred))

(provide 'podlens-lsp-mode)
;;; podlens-lsp-mode.el ends here
