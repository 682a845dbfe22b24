-- The globals of one task.
local dyno = ...
local base = dyno.base

local globals = { __index = base }
local cmdline_fields = { __index = dyno.cmdline }
local package_fields = { __index = base.package }

local function copy(original)
  local result = {}
  for name, value in pairs(original) do
    result[name] = value
  end
  return result
end

local loaded = copy(base.package.loaded)
loaded.ffi = dyno.script_ffi
base.ffi = dyno.script_ffi

-- A script that is run without a command has none.
local command = dyno.command_name ~= "" and dyno.command_name or nil
dyno.arguments[0] = "sysbench"
dyno.cmdline.argv = dyno.arguments
dyno.cmdline.script_path = dyno.script_name
dyno.cmdline.command = command

function dyno.environment(tid)
  local sysbench = copy(dyno.sysbench)
  sysbench.tid = tid
  sysbench.opt = copy(dyno.opt)
  sysbench.rand = copy(dyno.sysbench.rand)
  sysbench.sql = copy(dyno.sysbench.sql)
  sysbench.hooks = {}
  sysbench.cmdline = setmetatable({}, cmdline_fields)
  local environment = {
    sysbench = sysbench,
    thread_id = tid,
    package = setmetatable({ loaded = copy(loaded), preload = {} }, package_fields),
  }
  environment._G = environment
  environment.package.loaded._G = environment
  return dyno.as_globals(environment, globals)
end

-- Options are globals too, for scripts of sysbench 0.4 and 0.5. What Lua itself has under such a name (`io`) stays.
local exported = {}
for name, value in pairs(dyno.legacy_defaults) do
  base[name], exported[name] = value, true
end

function dyno.export_options()
  for name, value in pairs(dyno.opt) do
    if exported[name] or base[name] == nil then
      base[name], exported[name] = value, true
    end
  end
end
