;;; podlens-eglot.el --- podlens with eglot  -*- lexical-binding: t; -*-

;; Eglot runs one server per mode, so podlens replaces yaml-language-server in YAML buffers.

;;; Code:

(require 'eglot)

(add-to-list 'eglot-server-programs
             '((yaml-mode yaml-ts-mode) . ("podlens" "lsp")))

;; Keys of podlens.yaml; they apply where the project's podlens.yaml does not set them.
(setq-default eglot-workspace-configuration
              '(:podlens (:unknown "auto")))

(dolist (hook '(yaml-mode-hook yaml-ts-mode-hook))
  (add-hook hook #'eglot-ensure))

(provide 'podlens-eglot)
;;; podlens-eglot.el ends here
