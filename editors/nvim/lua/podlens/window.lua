-- Windows for responses of the server: a floating window or a split.

local M = {}

local function scratch(name, lines, filetype)
  local buffer = vim.fn.bufnr('^' .. name .. '$')
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  end
  M.fill(buffer, lines)
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].filetype = filetype
  return buffer
end

--- Replaces the text of a read-only buffer.
function M.fill(buffer, lines)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
end

--- Shows lines in a split or a floating window. Returns the buffer and the window.
function M.open(name, lines, filetype, split)
  local buffer = scratch(name, lines, filetype)
  local existing = vim.fn.bufwinid(buffer)
  if existing ~= -1 then
    return buffer, existing
  end
  local window
  if split then
    local before = vim.api.nvim_get_current_win()
    vim.cmd('rightbelow vsplit')
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, buffer)
    vim.api.nvim_set_current_win(before)
  else
    local width = 20
    for _, line in ipairs(lines) do
      width = math.max(width, vim.fn.strdisplaywidth(line))
    end
    window = vim.api.nvim_open_win(buffer, true, {
      relative = 'cursor',
      row = 1,
      col = 0,
      width = math.min(width, math.max(20, vim.o.columns - 4)),
      height = math.min(#lines, math.max(4, math.floor(vim.o.lines / 2))),
      style = 'minimal',
      border = 'rounded',
    })
    for _, key in ipairs({ 'q', '<Esc>' }) do
      vim.keymap.set('n', key, '<Cmd>close<CR>', { buffer = buffer, nowait = true })
    end
  end
  vim.wo[window].wrap = false
  return buffer, window
end

return M
