-- The metatable of a task's globals. A script may set one of its own, to refuse globals that it has not declared: what Lua
-- and sysbench have is then still found.
local dyno = ...
local base = dyno.base
local set_metatable, get_metatable = base.setmetatable, base.getmetatable

-- By environment: the metatable that it was made with, and the script's.
local first = set_metatable({}, { __mode = "k" })
local own = set_metatable({}, { __mode = "k" })

-- Asks the script's metatable, which it may still change, where Lua and sysbench have nothing.
local function guarded(metatable)
  return {
    __index = function(environment, name)
      local value, index = base[name], metatable.__index
      if value ~= nil or index == nil then
        return value
      elseif type(index) == "function" then
        return index(environment, name)
      end
      return index[name]
    end,
    __newindex = function(environment, name, value)
      local assign = metatable.__newindex
      if assign == nil then
        rawset(environment, name, value)
      elseif type(assign) == "function" then
        -- A tail call, so that its errors are those of the script's line.
        return assign(environment, name, value)
      else
        assign[name] = value
      end
    end,
  }
end

function dyno.as_globals(environment, metatable)
  first[environment] = metatable
  return set_metatable(environment, metatable)
end

function base.setmetatable(table, metatable)
  local default = first[table]
  if not default then
    return set_metatable(table, metatable)
  end
  own[table] = metatable
  return set_metatable(table, metatable and guarded(metatable) or default)
end

function base.getmetatable(value)
  if first[value] then
    return own[value]
  end
  return get_metatable(value)
end
