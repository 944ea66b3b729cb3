-- The user commands, and the commands of the server's code lenses.

local M = {}

--- Creates `:PodlensEnvironment` and `:PodlensPreview`.
function M.create()
  vim.api.nvim_create_user_command('PodlensEnvironment', function(event)
    require('podlens.environment').show(event.bang)
  end, { bang = true, desc = 'Show the environment of the container under the cursor; with ! in a split' })

  vim.api.nvim_create_user_command('PodlensPreview', function(event)
    local words = event.fargs
    local kind = table.remove(words, 1) or 'render'
    if kind ~= 'render' and kind ~= 'process' then
      vim.notify("podlens: unknown kind of preview '" .. kind .. "': expected render or process", vim.log.levels.ERROR)
      return
    end
    require('podlens.preview').show(kind, words)
  end, {
    nargs = '*',
    desc = 'Show the rendered manifest or the processed template next to the source',
    complete = function(_, line)
      return #vim.split(line, '%s+') <= 2 and { 'render', 'process' } or {}
    end,
  })
end

--- Returns the handlers for the commands of code lenses.
function M.lens_commands()
  local function run_at(position, run)
    -- Only indentation precedes the position, so characters equal bytes.
    vim.api.nvim_win_set_cursor(0, { position.line + 1, position.character })
    run()
  end
  return {
    ['podlens.showEnvironment'] = function(command)
      run_at(command.arguments[2], function()
        require('podlens.environment').show(false)
      end)
    end,
    ['podlens.showPreview'] = function(command)
      run_at(command.arguments[2], function()
        require('podlens.preview').show(command.arguments[3] or 'render', {})
      end)
    end,
    ['podlens.showLocations'] = function(command)
      local items = vim.lsp.util.locations_to_items(command.arguments[3], 'utf-16')
      vim.fn.setqflist({}, ' ', { title = command.title or 'podlens', items = items })
      vim.cmd('botright copen')
    end,
  }
end

return M
