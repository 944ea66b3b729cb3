-- The editor's commands, and those that the server's code lenses name.

local M = {}

--- `:PodlensEnvironment` and `:PodlensPreview`.
function M.create()
  vim.api.nvim_create_user_command('PodlensEnvironment', function(event)
    require('podlens.environment').show(event.bang)
  end, { bang = true, desc = 'Show the environment of the container under the cursor; with ! in a split' })

  vim.api.nvim_create_user_command('PodlensPreview', function(event)
    local words = event.fargs
    local kind = table.remove(words, 1) or 'render'
    if kind ~= 'render' and kind ~= 'process' then
      vim.notify('podlens: expected render or process and not ' .. kind, vim.log.levels.ERROR)
      return
    end
    require('podlens.preview').show(kind, words)
  end, {
    nargs = '*',
    desc = 'Show the rendered manifest, or the processed template, beside the source',
    complete = function(_, line)
      return #vim.split(line, '%s+') <= 2 and { 'render', 'process' } or {}
    end,
  })
end

--- What a click on a code lens does.
function M.lens_commands()
  local function at(position, run)
    -- What stands before the place is indentation, so that its characters are bytes.
    vim.api.nvim_win_set_cursor(0, { position.line + 1, position.character })
    run()
  end
  return {
    ['podlens.showEnvironment'] = function(command)
      at(command.arguments[2], function()
        require('podlens.environment').show(false)
      end)
    end,
    ['podlens.showPreview'] = function(command)
      at(command.arguments[2], function()
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
