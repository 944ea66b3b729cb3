-- podlens for Neovim: `setup()` starts the server for the buffers it is for, on every version since 0.8.

local config = require('podlens.config')

local M = {}

--- The directory around a file that has one of the markers, or else the directory of the file.
local function root_of(file)
  local directory = vim.fs.dirname(file)
  local found = vim.fs.find(config.root_markers, { path = directory, upward = true })[1]
  return found and vim.fs.dirname(found) or directory
end

local function start(options, buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  if file == '' or vim.bo[buffer].buftype ~= '' then
    return
  end
  local client = config.client(options)
  client.root_dir = root_of(file)
  vim.lsp.start(client, { bufnr = buffer })
end

--- Starts the server for manifests, those that are open already included.
--- Options are those of |podlens-options|: `cmd`, `settings`, `filetypes`, `capabilities`, and what `vim.lsp.start` takes.
function M.setup(options)
  options = options or {}
  if not vim.lsp.start then
    vim.notify('podlens: setup() needs Neovim 0.8; see :help podlens-0.7', vim.log.levels.ERROR)
    return
  end
  -- 0.11 and newer keep configurations themselves; this way `vim.lsp.enable` and `:checkhealth lsp` know this one too.
  if vim.lsp.config and vim.lsp.enable then
    vim.lsp.config('podlens', config.client(options))
    vim.lsp.enable('podlens')
    return
  end
  local filetypes = options.filetypes or config.filetypes
  local group = vim.api.nvim_create_augroup('podlens', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = filetypes,
    callback = function(event)
      start(options, event.buf)
    end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.tbl_contains(filetypes, vim.bo[buffer].filetype) then
      start(options, buffer)
    end
  end
end

return M
