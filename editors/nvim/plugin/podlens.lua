-- Creates the commands and registers a file type. The user starts the server with `vim.lsp.enable('podlens')` or
-- `setup()`.
if vim.g.loaded_podlens then
  return
end
vim.g.loaded_podlens = true
require('podlens.commands').create()
-- Parameter files of templates; Neovim has no file type for them.
vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
  pattern = '*.params',
  command = [[setfiletype podlens-params | setlocal syntax=conf commentstring=#\ %s]],
})
