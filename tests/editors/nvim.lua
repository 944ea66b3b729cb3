-- The tests for every version of Neovim. Prints `ok - NAME` and `not ok - NAME: REASON` lines, and quits Neovim.

local plugin = os.getenv('PODLENS_PLUGIN')
local init = os.getenv('PODLENS_INIT')
local version = vim.version()
local label = string.format('nvim %d.%d', version.major, version.minor)
local timeout = 90000

local function print_line(line)
  io.stdout:write(line .. '\n')
  io.stdout:flush()
end

local warnings = {}
local notify = vim.notify
vim.notify = function(message, level, options)
  if level and level >= vim.log.levels.WARN then
    table.insert(warnings, message)
  end
  return notify(message, level, options)
end

local failures = 0
local function test(name, body)
  local passed, reason = pcall(body)
  if passed then
    print_line(string.format('ok - %s: %s', label, name))
  else
    failures = failures + 1
    print_line(string.format('not ok - %s: %s: %s', label, name, (tostring(reason):gsub('%s+', ' '))))
  end
end

--- Waits until `check` returns a true value; reports its last value on timeout.
local function wait_for(what, check)
  local last
  local function try()
    local succeeded, result = pcall(check)
    last = result
    return succeeded and result
  end
  if not vim.wait(timeout, try, 50) then
    error('timed out waiting for ' .. what .. '; last value: ' .. vim.inspect(last), 2)
  end
  return last
end

local buffer = vim.api.nvim_get_current_buf()
local client_of = function()
  return require('podlens.client').for_buffer(buffer)
end

--- Sends a request and returns the result.
local function request_raw(method, params)
  local done, err, result
  local client = client_of()
  local handler = function(e, r)
    done, err, result = true, e, r
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, handler, buffer)
  else
    client.request(method, params, handler, buffer)
  end
  wait_for('the response to ' .. method, function()
    return done
  end)
  assert(not err, vim.inspect(err))
  return result
end

--- Sends a request about the manifest and returns the result.
local function request(method, params)
  params.textDocument = { uri = vim.uri_from_bufnr(buffer) }
  return request_raw(method, params)
end

--- Moves the cursor after a text in the buffer, and returns its protocol position.
local function go_after(text)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local _, finish = line:find(text, 1, true)
    if finish then
      vim.api.nvim_win_set_cursor(0, { row, math.min(finish, #line - 1) })
      local position = require('podlens.client').position(0)
      position.character = position.character + (finish >= #line and 1 or 0)
      return position
    end
  end
  error(text .. ' is not in the buffer')
end

--- The diagnostics of podlens, by rule.
local function findings()
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
    if diagnostic.source == 'podlens' then
      found[tostring(diagnostic.code or (diagnostic.user_data or {}).lsp and diagnostic.user_data.lsp.code)] = diagnostic
    end
  end
  return found
end

local function all_text(number)
  return table.concat(vim.api.nvim_buf_get_lines(number, 0, -1, false), '\n')
end

local function buffer_named(name)
  for _, number in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(number):find(name, 1, true) then
      return number
    end
  end
end

vim.opt.runtimepath:prepend(plugin)
vim.cmd('runtime plugin/podlens.lua')
-- The shipped configuration and one more setting, to test that settings are applied.
local extra = "rules = { ['collapsed-dollar'] = 'off' }"
local shipped = table.concat(vim.fn.readfile(plugin .. '/examples/' .. init), '\n')
local changed, times = shipped:gsub("unknown = 'auto'", "unknown = 'auto', " .. extra)
if times == 0 then
  changed, times = shipped:gsub('%.client%(%)', '.client({ settings = { ' .. extra .. ' } })')
end
assert(times == 1, 'cannot add a setting to ' .. init)
assert(loadstring(changed))()
vim.cmd('filetype on')
vim.bo[buffer].filetype = 'yaml'

test('starts the server', function()
  wait_for('a client', client_of)
end)

test('shows diagnostics', function()
  local found = wait_for('the findings', function()
    local it = findings()
    return it['forward-reference'] and it['undefined-variable'] and it
  end)
  assert(found['forward-reference'].lnum == 32, vim.inspect(found['forward-reference']))
  -- The reference follows characters of one, two and four bytes; Neovim uses byte columns.
  local line = vim.api.nvim_buf_get_lines(buffer, 25, 26, false)[1]
  assert(found['undefined-variable'].col + 1 == line:find('$(VISITOR)', 1, true), vim.inspect(found['undefined-variable']))
end)

test('applies the settings', function()
  wait_for('no finding of the rule that is off', function()
    local it = findings()
    return it['forward-reference'] and not it['collapsed-dollar']
  end)
end)

test('shows a hover', function()
  local position = go_after('--url=$(UR')
  local hover = request('textDocument/hover', { position = position })
  assert(vim.inspect(hover):find('https://shop.example.com/en', 1, true), vim.inspect(hover))
end)

test('offers completions', function()
  local position = go_after('value: https://$(')
  local answer = request('textDocument/completion', { position = position })
  local labels = {}
  for _, item in ipairs(answer.items or answer) do
    labels[item.label] = true
  end
  assert(labels.HOST and labels.LANGUAGE, vim.inspect(labels))
end)

test('clears a diagnostic with an edit', function()
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for row, line in ipairs(lines) do
    if line:find('$(VISITOR)', 1, true) then
      local fixed = line:gsub('%$%(VISITOR%)', 'all')
      vim.api.nvim_buf_set_lines(buffer, row - 1, row, false, { fixed })
    end
  end
  wait_for('the finding to be removed', function()
    local it = findings()
    return it['forward-reference'] and not it['undefined-variable']
  end)
end)

test('shows the environment in a split', function()
  go_after('- name: URL')
  vim.cmd('PodlensEnvironment!')
  local shown = wait_for('the environment', function()
    local number = buffer_named('podlens://environment')
    local text = number and all_text(number)
    return text and text:find('URL=', 1, true) and text
  end)
  assert(shown:find('# Deployment/web, container web', 1, true), shown)
  assert(shown:find('\n! $(DB_HOST) is not expanded: it is declared later', 1, true), shown)
  assert(shown:find('URL=https://shop.example.com/en  # env web.yaml:23', 1, true), shown)
  assert(shown:find('hides config map settings/LOG_LEVEL', 1, true), shown)
  assert(not shown:find('correct horse', 1, true), shown)
  vim.cmd('bwipeout! ' .. buffer_named('podlens://environment'))
end)

test('shows the environment in a floating window that q closes', function()
  go_after('- name: SIZE')
  vim.cmd('PodlensEnvironment')
  local window = wait_for('the floating window', function()
    local current = vim.api.nvim_get_current_win()
    local config = vim.api.nvim_win_get_config(current)
    return config.relative ~= '' and all_text(0):find('SIZE=64', 1, true) and current
  end)
  assert(all_text(0):find('# Deployment/web, container cache', 1, true), all_text(0))
  vim.api.nvim_feedkeys('q', 'xt', false)
  assert(not vim.api.nvim_win_is_valid(window), 'the floating window is still open')
end)

test('opens the environment from a code lens', function()
  local lenses = request('textDocument/codeLens', {})
  local command
  for _, lens in ipairs(lenses) do
    if not lens.command then
      lens = request_raw('codeLens/resolve', lens)
    end
    if lens.command and lens.command.command == 'podlens.showEnvironment' then
      command = lens.command
      break
    end
  end
  assert(command, vim.inspect(lenses))
  local run = client_of().commands or client_of().config.commands
  run['podlens.showEnvironment'](command)
  wait_for('the floating window', function()
    local config = vim.api.nvim_win_get_config(0)
    return config.relative ~= '' and all_text(0):find('# Deployment/web, container web', 1, true)
  end)
  vim.cmd('close')
end)

test('previews the manifest and updates the preview', function()
  vim.cmd('PodlensPreview render')
  local preview = wait_for('the preview', function()
    local number = buffer_named('podlens://render')
    return number and all_text(number):find('https://shop.example.com/en', 1, true) and number
  end)
  local row = go_after('value: shop.example.com').line
  vim.api.nvim_buf_set_lines(buffer, row, row + 1, false, { '              value: new.example.com' })
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = buffer })
  wait_for('the new value', function()
    return all_text(preview):find('https://new.example.com/en', 1, true)
  end)
  assert(not vim.bo[preview].modifiable)
end)

test('previews a template with parameter values', function()
  vim.cmd('edit template.yaml')
  local template = vim.api.nvim_get_current_buf()
  vim.bo[template].filetype = 'yaml'
  wait_for('a client', function()
    return require('podlens.client').for_buffer(template)
  end)
  vim.cmd('PodlensPreview process APP_NAME=store REPLICAS=3')
  wait_for('the preview', function()
    local number = buffer_named('podlens://process')
    local text = number and all_text(number)
    return text and text:find('name: store', 1, true) and text:find('replicas: 3', 1, true)
  end)
  vim.cmd('buffer ' .. buffer)
end)

test('checks a parameter file', function()
  vim.fn.writefile({ 'APP_NAME=store', 'REPLICAS=3', 'REPLICA=3' }, 'shop.params')
  vim.cmd('edit shop.params')
  local values = vim.api.nvim_get_current_buf()
  assert(vim.bo[values].filetype == 'podlens-params', vim.bo[values].filetype)
  wait_for('the finding', function()
    local found = vim.diagnostic.get(values)
    return #found == 1 and found[1].lnum == 2 and found[1].message:find('`REPLICA`', 1, true)
  end)
  vim.cmd('buffer ' .. buffer)
  vim.fn.delete('shop.params')
end)

test('passes checkhealth', function()
  if vim.fn.has('nvim-0.8') == 0 then
    package.loaded['podlens.health'] = nil
  end
  vim.cmd('checkhealth podlens')
  local report = wait_for('the report', function()
    local text = all_text(vim.api.nvim_get_current_buf())
    return text:find('podlens %d') and text
  end)
  assert(not report:find('ERROR', 1, true), report)
  assert(report:find('A server is running for', 1, true), report)
  vim.cmd('bwipeout!')
  vim.cmd('buffer ' .. buffer)
end)

test('has help tags for its commands and options', function()
  local copy = vim.fn.tempname()
  vim.fn.mkdir(copy .. '/doc', 'p')
  vim.fn.writefile(vim.fn.readfile(plugin .. '/doc/podlens.txt'), copy .. '/doc/podlens.txt')
  vim.cmd('helptags ' .. copy .. '/doc')
  vim.opt.runtimepath:append(copy)
  for _, tag in ipairs({ 'podlens', ':PodlensEnvironment', ':PodlensPreview', 'podlens.setup()', 'podlens-0.7' }) do
    vim.cmd('help ' .. tag)
    assert(vim.api.nvim_buf_get_name(0):find('podlens.txt', 1, true), tag)
    assert(vim.api.nvim_get_current_line():find('*' .. tag .. '*', 1, true), tag .. ' links to ' .. vim.api.nvim_get_current_line())
  end
  -- Every link in the text has a target, in this help or in that of Neovim 0.11 and newer.
  for tag in all_text(0):gmatch('|([^|%s]+)|') do
    if vim.startswith(tag, 'podlens') or vim.fn.has('nvim-0.11') == 1 then
      vim.cmd('help ' .. tag)
    end
  end
  vim.cmd('helpclose')
end)

test('has the snippet for 0.7 in the help', function()
  local help = table.concat(vim.fn.readfile(plugin .. '/doc/podlens.txt'), '\n')
  local snippet = {}
  for _, line in ipairs(vim.fn.readfile(plugin .. '/examples/init-0.7.lua')) do
    table.insert(snippet, line == '' and '' or '    ' .. line)
  end
  assert(help:find(table.concat(snippet, '\n'), 1, true), 'doc/podlens.txt differs from examples/init-0.7.lua')
end)

test('reports a missing server in checkhealth', function()
  local health = require('podlens.health')
  local original = health.clients
  health.clients = function()
    return { { name = 'podlens', config = { cmd = { '/nowhere/podlens', 'lsp' } }, offset_encoding = 'utf-16' } }
  end
  vim.cmd('checkhealth podlens')
  local report = wait_for('the report', function()
    local text = all_text(vim.api.nvim_get_current_buf())
    return text:find('/nowhere/podlens', 1, true) and text
  end)
  health.clients = original
  assert(report:find('ERROR', 1, true) and report:find('is not executable', 1, true), report)
  assert(report:find('Install podlens', 1, true), report)
  vim.cmd('bwipeout!')
  vim.cmd('buffer ' .. buffer)
end)

--- Attaches yaml-language-server to the buffer.
local function start_yamlls()
  local config = { name = 'yamlls', cmd = { 'yaml-language-server', '--stdio' }, root_dir = vim.fn.getcwd() }
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  local id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, id)
  return id
end

test('works together with yaml-language-server without a warning', function()
  local yamlls = start_yamlls()
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  local clients = wait_for('two clients', function()
    local ready = vim.tbl_filter(function(client)
      return client.initialized and vim.lsp.buf_is_attached(buffer, client.id)
    end, get())
    return #ready == 2 and ready
  end)
  for _, client in ipairs(clients) do
    assert(client.offset_encoding == 'utf-16', client.name .. ' uses ' .. client.offset_encoding)
  end
  -- Neovim warns about different encodings when a request is sent to all clients of a buffer.
  local responses
  vim.lsp.buf_request_all(buffer, 'textDocument/hover', {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = go_after('--url=$(UR'),
  }, function(all)
    responses = all
  end)
  wait_for('both responses', function()
    return responses
  end)
  assert(vim.inspect(responses[client_of().id]):find('example.com/en', 1, true), vim.inspect(responses))
  local shown = #vim.api.nvim_list_wins()
  vim.lsp.buf.hover()
  wait_for('the hover window', function()
    return #vim.api.nvim_list_wins() > shown
  end)
  -- Both servers have answered a later request, so a warning would have been shown by now.
  for _, client in ipairs({ client_of().id, yamlls }) do
    local done = false
    local one = vim.lsp.get_client_by_id(client)
    local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
    local handler = function()
      done = true
    end
    if vim.fn.has('nvim-0.11') == 1 then
      one:request('textDocument/documentSymbol', params, handler, buffer)
    else
      one.request('textDocument/documentSymbol', params, handler, buffer)
    end
    wait_for('the symbols', function()
      return done
    end)
  end
  assert(findings()['forward-reference'], 'the finding was removed')
  for _, text in ipairs(warnings) do
    assert(not text:find('encoding', 1, true), text)
  end
  assert(not vim.fn.execute('messages'):find('encoding', 1, true), vim.fn.execute('messages'))
end)

vim.cmd(failures == 0 and 'qall!' or 'cquit')
