-- Neovim 0.7 has no vim.lsp.start: start one server per workspace and attach it to each buffer.
local servers = {}
vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'yaml', 'json', 'helm', 'podlens-params' },
  callback = function(event)
    local file = vim.api.nvim_buf_get_name(event.buf)
    local root = vim.fn.fnamemodify(file, ':p:h')
    for _, marker in ipairs({ 'podlens.yaml', '.git' }) do
      local found = vim.fn.findfile(marker, root .. ';')
      found = found ~= '' and found or vim.fn.finddir(marker, root .. ';')
      if found ~= '' then
        root = vim.fn.fnamemodify(found, ':p'):gsub('/+$', ''):match('^(.*)/')
        break
      end
    end
    if not servers[root] then
      local config = require('podlens.config').client()
      config.root_dir = root
      servers[root] = vim.lsp.start_client(config)
    end
    vim.lsp.buf_attach_client(event.buf, servers[root])
  end,
})
