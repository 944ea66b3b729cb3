-- Shows the environment of the container under the cursor as lines of text.

local client = require('podlens.client')
local window = require('podlens.window')

local M = {}

local KIND_NAMES = { configMap = 'config map', envFile = 'env file', injected = 'injected by the controller' }
local REASONS = {
  undefined = 'nothing defines it',
  forward = 'it is declared later',
  self = 'it refers to itself',
  probe = 'exec probes do not see it',
  linksOff = 'it is a service variable, and service links are off',
}
local FAILURES = {
  missingKey = 'its key does not exist',
  missingFile = 'nothing writes its env file before the container starts',
  unreadableFile = 'its env file cannot be read',
  missingContainer = 'the pod does not have the container of its resource',
  refusedSource = 'the API server refuses its source',
  emptySubPath = 'a sub path needs its value, and it has none',
}

local function text(value)
  if value == nil or value == vim.NIL then
    return nil
  end
  return (tostring(value):gsub('\n', '\\n'))
end

local function location(source)
  local file = text(source.file)
  if not file then
    return ''
  end
  local line = text(source.line)
  return vim.fn.fnamemodify(file, ':t') .. (line and ':' .. line or '')
end

local function describe_source(source)
  local name = {}
  for _, part in ipairs({ 'object', 'key' }) do
    if text(source[part]) then
      table.insert(name, text(source[part]))
    end
  end
  local words = { KIND_NAMES[source.kind] or source.kind, table.concat(name, '/'), location(source) }
  return (table.concat(words, ' '):gsub('%s+', ' '):gsub('%s+$', ''))
end

local function display_value(variable)
  local value = text(variable.value)
  if variable.state == 'secret' then
    return value or '••••••••'
  end
  if not value then
    return type(variable.alternatives) == 'table' and #variable.alternatives > 0 and '<one of several>' or '<unknown>'
  end
  return value
end

--- Returns the lines for a response to `podlens/environment`: what keeps the container from starting, unresolved
--- references, unknown sources, unknown variables, other variables.
function M.lines(environment)
  local workload = environment.workloads[1]
  local container = workload.containers[1]
  local lines = {
    string.format('# %s/%s, %s %s', text(workload.kind) or '?', text(workload.name) or '?', container.role, text(container.name) or '?'),
  }
  local failed = {}
  for _, one in ipairs(container.failures) do
    if one.why == 'emptySubPath' then
      failed[table.concat({ one.name, one.file, one.line }, '\n')] = true
    end
    local reason = FAILURES[one.why] or one.why
    table.insert(lines, string.format('! %s keeps the container from starting: %s  # %s', one.name, reason, location(one)))
  end
  for _, one in ipairs(container.unresolved) do
    if not failed[table.concat({ one.name, one.file, one.line }, '\n')] then
      local reason = REASONS[one.why] or one.why
      table.insert(lines, string.format('! $(%s) is not expanded: %s  # %s', one.name, reason, location(one)))
    end
  end
  for _, one in ipairs(container.opaque) do
    local prefix = one.prefix == '' and '' or ' ' .. one.prefix .. '*'
    local kind = KIND_NAMES[one.kind] or one.kind
    table.insert(lines, string.format('? %s %s may add variables%s: %s', kind, one.object, prefix, one.why))
  end
  local unknown, known = {}, {}
  for _, variable in ipairs(container.env) do
    table.insert(variable.state == 'unknown' and unknown or known, variable)
  end
  for _, variables in ipairs({ unknown, known }) do
    for _, variable in ipairs(variables) do
      local hides = {}
      for _, source in ipairs(variable.hides) do
        table.insert(hides, 'hides ' .. describe_source(source))
      end
      local comment = table.concat({ describe_source(variable.source), unpack(hides) }, ', ')
      table.insert(lines, string.format('%s=%s  # %s', variable.name, display_value(variable), comment))
    end
  end
  return lines
end

--- Shows the environment of the container under the cursor. With `split`, opens a split instead of a floating window.
function M.show(split)
  local current = vim.api.nvim_get_current_win()
  local buffer = vim.api.nvim_win_get_buf(current)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = client.position(current),
  }
  client.request(buffer, 'podlens/environment', params, function(environment)
    if not environment then
      vim.notify('podlens: the cursor is not in a container', vim.log.levels.INFO)
      return
    end
    window.open('podlens://environment', M.lines(environment), 'podlens-environment', split)
  end)
end

return M
