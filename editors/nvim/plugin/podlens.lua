-- Creates the commands, and names a file type. Starting the server is left to the user: `vim.lsp.enable('podlens')` or
-- `setup()`.
if vim.g.loaded_podlens then
  return
end
vim.g.loaded_podlens = true
require('podlens.commands').create()
-- Values for the parameters of templates; Neovim has no name for them.
vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
  pattern = '*.params',
  command = [[setfiletype podlens-params | setlocal syntax=conf commentstring=#\ %s]],
})
