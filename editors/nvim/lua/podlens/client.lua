-- Finds the client of a buffer and sends requests, on every version since 0.7.

local M = {}

--- Returns the podlens client of a buffer, or nil.
function M.for_buffer(buffer)
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

--- Sends a request to the client of a buffer and calls `on_result` with the result. Shows a message on errors.
function M.request(buffer, method, params, on_result)
  local client = M.for_buffer(buffer)
  if not client then
    vim.notify('podlens: no server is attached to this buffer; run :checkhealth podlens', vim.log.levels.WARN)
    return
  end
  local function handler(err, result)
    if err then
      vim.notify('podlens: ' .. (err.message or vim.inspect(err)), vim.log.levels.ERROR)
    else
      on_result(result ~= vim.NIL and result or nil)
    end
  end
  -- `request` is a method since 0.11, and a plain function before.
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, handler, buffer)
  else
    client.request(method, params, handler, buffer)
  end
end

--- Returns the cursor of a window as a protocol position, in UTF-16 units.
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
