-- Neovim 0.8 to 0.10; it works on newer ones too.
require('podlens').setup({
  -- cmd = { '/path/to/podlens', 'lsp' },
  settings = { unknown = 'auto' },
})
