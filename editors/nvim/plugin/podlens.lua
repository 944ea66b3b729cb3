-- Creates the commands. Starting the server is left to the user: `vim.lsp.enable('podlens')` or `setup()`.
if vim.g.loaded_podlens then
  return
end
vim.g.loaded_podlens = true
require('podlens.commands').create()
