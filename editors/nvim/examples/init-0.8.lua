-- Neovim 0.8 to 0.10; it also works on newer versions.
require('podlens').setup({
  -- cmd = { '/path/to/podlens', 'lsp' },
  settings = { unknown = 'auto' },
})
