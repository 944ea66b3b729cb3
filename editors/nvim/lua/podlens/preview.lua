-- Previews in a split: the rendered manifest or the processed template, updated while the user types.

local client = require('podlens.client')
local window = require('podlens.window')

local M = {}

local function lines_of(preview)
  local lines = {}
  for _, problem in ipairs(preview.problems or {}) do
    for _, line in ipairs(vim.split(problem.message, '\n', { plain = true })) do
      table.insert(lines, '# ' .. line)
    end
  end
  local body = vim.split(preview.text, '\n', { plain = true })
  if body[#body] == '' then
    table.remove(body)
  end
  vim.list_extend(lines, body)
  return lines
end

--- Parses `NAME=VALUE` words into a table. On error, returns nil and the invalid word.
local function parameters_of(words)
  local parameters = vim.empty_dict()
  for _, word in ipairs(words) do
    local name, value = word:match('^([^=]+)=(.*)$')
    if not name then
      return nil, word
    end
    parameters[name] = value
  end
  return parameters
end

--- Shows a preview of the current buffer and keeps it up to date. `kind` is `render` or `process`.
function M.show(kind, words)
  local parameters, invalid = parameters_of(words or {})
  if not parameters then
    vim.notify("podlens: expected NAME=VALUE, found '" .. invalid .. "'", vim.log.levels.ERROR)
    return
  end
  local current = vim.api.nvim_get_current_win()
  local source = vim.api.nvim_win_get_buf(current)
  local name = string.format('podlens://%s/%s', kind, vim.fn.fnamemodify(vim.api.nvim_buf_get_name(source), ':t'))
  local params = { textDocument = { uri = vim.uri_from_bufnr(source) }, kind = kind, parameters = parameters }
  if kind == 'process' then
    params.position = client.position(current)
  end
  client.request(source, 'podlens/preview', params, function(preview)
    if not preview then
      local expected = kind == 'process' and 'template to process' or 'workload to render'
      vim.notify('podlens: there is no ' .. expected .. ' here', vim.log.levels.INFO)
      return
    end
    local buffer = window.open(name, lines_of(preview), 'yaml', true)
    M.follow(source, buffer, params)
  end)
end

--- Updates the preview at most every 200 ms while the source changes, until the preview is closed.
function M.follow(source, target, params)
  local group = vim.api.nvim_create_augroup('podlens-preview-' .. target, { clear = true })
  local is_scheduled = false
  local function refresh()
    is_scheduled = false
    if vim.api.nvim_buf_is_valid(source) and vim.fn.bufwinid(target) ~= -1 then
      client.request(source, 'podlens/preview', params, function(preview)
        if preview and vim.api.nvim_buf_is_valid(target) then
          window.fill(target, lines_of(preview))
        end
      end)
    end
  end
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = group,
    buffer = source,
    callback = function()
      if vim.fn.bufwinid(target) == -1 then
        vim.api.nvim_del_augroup_by_id(group)
      elseif not is_scheduled then
        is_scheduled = true
        vim.defer_fn(refresh, 200)
      end
    end,
  })
end

return M
