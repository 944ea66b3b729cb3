-- The configuration for `vim.lsp.enable('podlens')`. Neovim 0.11 and newer load this file automatically.
return require('podlens.config').client()
