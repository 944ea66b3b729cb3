-- podlens for Neovim: `setup()` starts the server for manifests, on Neovim 0.8 and newer.

local config = require('podlens.config')

local M = {}

--- Returns the nearest parent directory with a root marker, or the directory of the file.
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

--- Starts the server for manifests, including those that are already open.
--- Takes the options in |podlens-options|: `cmd`, `settings`, `filetypes`, `capabilities`, and the options of
--- `vim.lsp.start`.
function M.setup(options)
  options = options or {}
  if not vim.lsp.start then
    vim.notify('podlens: setup() needs Neovim 0.8; see :help podlens-0.7', vim.log.levels.ERROR)
    return
  end
  -- 0.11 and newer store configurations, so that `vim.lsp.enable` and `:checkhealth lsp` know this one.
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
