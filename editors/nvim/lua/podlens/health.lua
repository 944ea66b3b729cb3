-- The checks of `:checkhealth podlens`.

local M = {}

local health = vim.health or {}
-- Before 0.10 the functions have the prefix `report_`.
local start = health.start or require('health').report_start
local ok = health.ok or require('health').report_ok
local warn = health.warn or require('health').report_warn
local report_error = health.error or require('health').report_error

local function check_neovim()
  if vim.fn.has('nvim-0.11') == 1 then
    ok("Neovim has vim.lsp.enable: vim.lsp.enable('podlens') or require('podlens').setup()")
  elseif vim.fn.has('nvim-0.8') == 1 then
    ok("Neovim has vim.lsp.start: require('podlens').setup()")
  else
    warn('Neovim is older than 0.8: setup() is not supported', { 'Use the snippet in :help podlens-0.7' })
  end
end

local function server_command()
  for _, client in pairs(M.clients()) do
    local cmd = client.config and client.config.cmd
    if type(cmd) == 'table' then
      return cmd
    end
  end
  local config = vim.lsp.config and vim.lsp.config.podlens
  return config and type(config.cmd) == 'table' and config.cmd or { 'podlens', 'lsp' }
end

function M.clients()
  local all = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  return vim.tbl_filter(function(client)
    return client.name == 'podlens'
  end, all)
end

local function check_binary()
  local binary = server_command()[1]
  if vim.fn.executable(binary) ~= 1 then
    report_error(binary .. ' is not executable', { "Install podlens, or set its path: require('podlens').setup({ cmd = { '/path/to/podlens', 'lsp' } })" })
    return
  end
  local version = vim.fn.systemlist({ binary, '--version' })[1] or ''
  if vim.v.shell_error ~= 0 or not version:match('^podlens ') then
    report_error(binary .. ' is not podlens: ' .. version, { 'Set the path of podlens with the option cmd' })
  else
    ok(version .. ' at ' .. vim.fn.exepath(binary))
  end
end

local function check_clients()
  local clients = M.clients()
  if #clients == 0 then
    warn('No server is running', { 'Open a YAML file; :set filetype? should print yaml' })
  end
  for _, client in ipairs(clients) do
    ok('A server is running for ' .. (client.config.root_dir or client.root_dir or 'single files'))
    local encoding = client.offset_encoding
    if encoding and encoding ~= 'utf-16' then
      warn('The server uses ' .. encoding .. ', yaml-language-server uses utf-16', {
        'Neovim warns if both are attached to a buffer; do not set offset_encoding for podlens',
      })
    end
  end
end

function M.check()
  start('podlens')
  check_neovim()
  check_binary()
  check_clients()
end

return M
