-- What every way of starting the server has in common. No state in here.

local M = {}

--- File types the server looks at. It is silent on those that are not Kubernetes.
M.filetypes = { 'yaml', 'json', 'helm', 'yaml.helm-values', 'yaml.openshift', 'env', 'podlens-params' }

--- The workspace is around one of these.
M.root_markers = { 'podlens.yaml', '.git' }

--- The capabilities of this client.
--- yaml-language-server speaks UTF-16 only, and Neovim warns when two clients of one buffer count differently, so this
--- one offers nothing else.
function M.capabilities(extra)
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.general = capabilities.general or {}
  capabilities.general.positionEncodings = { 'utf-16' }
  if extra then
    capabilities = vim.tbl_deep_extend('force', capabilities, extra)
  end
  return capabilities
end

--- The configuration of the client.
--- `options.cmd` is the command, `options.settings` has the keys of podlens.yaml; the rest is passed on.
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
    -- Neovim 0.7 tells the server of no settings.
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
