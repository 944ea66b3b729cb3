-- Neovim 0.11 and newer; the base configuration is lsp/podlens.lua of the plugin.
vim.lsp.config('podlens', {
  -- cmd = { '/path/to/podlens', 'lsp' },
  settings = { podlens = { unknown = 'auto' } },
})
vim.lsp.enable('podlens')
