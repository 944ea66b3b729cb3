-- The client configuration that all ways of starting the server use. Has no state.

local M = {}

--- The file types that are sent to the server. It reports nothing for files that are not Kubernetes manifests.
M.filetypes = { 'yaml', 'json', 'helm', 'yaml.helm-values', 'yaml.openshift', 'env', 'podlens-params' }

--- The workspace root is the directory that contains one of these.
M.root_markers = { 'podlens.yaml', '.git' }

--- Returns the capabilities of the client.
--- yaml-language-server supports only UTF-16, and Neovim warns if two clients of a buffer use different encodings, so
--- this client offers only UTF-16.
function M.capabilities(extra)
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.general = capabilities.general or {}
  capabilities.general.positionEncodings = { 'utf-16' }
  if extra then
    capabilities = vim.tbl_deep_extend('force', capabilities, extra)
  end
  return capabilities
end

--- Returns the configuration of the client.
--- `options.cmd` is the command, `options.settings` has the keys of podlens.yaml; other options are passed through.
function M.client(options)
  options = options or {}
  local config = {
    name = 'podlens',
    cmd = options.cmd or { 'podlens', 'lsp' },
    filetypes = options.filetypes or M.filetypes,
    root_markers = M.root_markers,
    capabilities = M.capabilities(options.capabilities),
    offset_encoding = 'utf-16',
    settings = { podlens = options.settings or vim.empty_dict() },
    -- Neovim 0.7 does not send settings after initialization.
    init_options = options.settings or vim.empty_dict(),
    commands = require('podlens.commands').lens_commands(),
  }
  for key, value in pairs(options) do
    if config[key] == nil then
      config[key] = value
    end
  end
  return config
end

return M
