-- Finding the client of a buffer and asking it, the same way on every version since 0.7.

local M = {}

--- The podlens client of a buffer, or nothing.
function M.of(buffer)
  local clients
  if vim.lsp.get_clients then
    clients = vim.lsp.get_clients({ name = 'podlens', bufnr = buffer })
  else
    clients = vim.lsp.buf_get_clients(buffer)
  end
  for _, client in pairs(clients) do
    if client.name == 'podlens' then
      return client
    end
  end
  return nil
end

--- Asks the client of a buffer, and calls `done` with what it answers. What goes wrong is said here.
function M.ask(buffer, method, params, done)
  local client = M.of(buffer)
  if not client then
    vim.notify('podlens: no server for this buffer; see :checkhealth podlens', vim.log.levels.WARN)
    return
  end
  local function handler(err, result)
    if err then
      vim.notify('podlens: ' .. (err.message or vim.inspect(err)), vim.log.levels.ERROR)
    else
      done(result ~= vim.NIL and result or nil)
    end
  end
  -- A method since 0.11, a plain function before.
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, handler, buffer)
  else
    client.request(method, params, handler, buffer)
  end
end

--- The cursor of a window as the protocol counts: UTF-16 units.
function M.position(window)
  local cursor = vim.api.nvim_win_get_cursor(window)
  local buffer = vim.api.nvim_win_get_buf(window)
  local line = vim.api.nvim_buf_get_lines(buffer, cursor[1] - 1, cursor[1], true)[1] or ''
  local column = math.min(cursor[2], #line)
  local units
  if vim.fn.has('nvim-0.11') == 1 then
    units = vim.str_utfindex(line, 'utf-16', column)
  else
    local _
    _, units = vim.str_utfindex(line, column)
  end
  return { line = cursor[1] - 1, character = units }
end

return M
