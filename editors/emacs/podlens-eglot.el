;;; podlens-eglot.el --- podlens with eglot  -*- lexical-binding: t; -*-

;; Eglot runs one server a mode, so this takes the place of yaml-language-server in YAML buffers.

;;; Code:

(require 'eglot)

(add-to-list 'eglot-server-programs
             '((yaml-mode yaml-ts-mode) . ("podlens" "lsp")))

;; The keys of podlens.yaml, for projects that have none.
(setq-default eglot-workspace-configuration
              '(:podlens (:unknown "auto")))

(dolist (hook '(yaml-mode-hook yaml-ts-mode-hook))
  (add-hook hook #'eglot-ensure))

(provide 'podlens-eglot)
;;; podlens-eglot.el ends here
