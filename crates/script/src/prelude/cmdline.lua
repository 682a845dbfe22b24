-- sysbench.cmdline: a script's own options and commands.
local dyno = ...
local native = dyno.native

local cmdline = {
  ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6,
  ARG_FILE = 7, ARG_MAX = 8,
  PARALLEL_COMMAND = true,
}
dyno.cmdline = cmdline

local PLACEHOLDERS = {
  [cmdline.ARG_BOOL] = "[=on|off]",
  [cmdline.ARG_INT] = "=N",
  [cmdline.ARG_SIZE] = "=SIZE",
  [cmdline.ARG_DOUBLE] = "=N",
  [cmdline.ARG_STRING] = "=STRING",
  [cmdline.ARG_LIST] = "=[LIST,...]",
  [cmdline.ARG_FILE] = "=FILENAME",
}

local KINDS = {
  boolean = cmdline.ARG_BOOL,
  number = cmdline.ARG_DOUBLE,
  string = cmdline.ARG_STRING,
  table = cmdline.ARG_LIST,
  ["nil"] = cmdline.ARG_STRING,
}

-- A default as a user would write it.
local function as_text(value)
  if type(value) == "boolean" then
    return value and "on" or "off"
  elseif type(value) == "table" then
    return table.concat(value, ",")
  elseif value ~= nil then
    return tostring(value)
  end
end

local function sorted_names(set)
  local names = {}
  for name in pairs(set or {}) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- Calls `visit(name, description, default, kind, validate)` for each option that the script declares.
local function each_option(script, visit)
  for _, name in ipairs(sorted_names(script.options)) do
    local option = script.options[name]
    if type(option) ~= "table" then
      error("sysbench.cmdline.options." .. name .. " must be a table {description, default, type}", 0)
    end
    local kind = option[3] or KINDS[type(option[2])]
    if not kind then
      error("the default of sysbench.cmdline.options." .. name .. " is a " .. type(option[2]), 0)
    end
    visit(name, option[1] or "", as_text(option[2]), kind, option.validate)
  end
end

local function this_task()
  return getfenv(0).sysbench.cmdline
end

-- sysbench's own program calls this; options have been read when a script runs.
function cmdline.read_cmdline_options()
  return true
end

function cmdline.command_defined(name)
  local commands = this_task().commands
  return commands ~= nil and commands[name] ~= nil
end

function cmdline.command_parallel(name)
  local commands = this_task().commands
  return commands ~= nil and commands[name] ~= nil and commands[name][2] == cmdline.PARALLEL_COMMAND
end

function cmdline.call_command(name)
  if not cmdline.command_defined(name) then
    return false
  end
  this_task().commands[name][1]()
  return true
end

function cmdline.print_test_options()
  local script, lines, width = this_task(), {}, 0
  each_option(script, function(name, description, default, kind)
    local usage = "  --" .. name .. PLACEHOLDERS[kind]
    lines[#lines + 1] = { usage, description .. (default and " [" .. default .. "]" or "") }
    width = math.max(width, #usage)
  end)
  dyno.print(script.script_path .. " options:")
  for _, line in ipairs(lines) do
    dyno.print(string.format("%-" .. width .. "s %s", line[1], line[2]))
  end
  dyno.print("")
end

-- Tells what the script in this environment declares. Returns whether it declares its options at all.
function dyno.declare(environment)
  local script = environment.sysbench.cmdline
  each_option(script, function(name, description, default, kind)
    native.declare_option((name:gsub("-", "_")), description, default, kind)
  end)
  local commands = script.commands or {}
  for _, name in ipairs(sorted_names(commands)) do
    -- A command whose function the script defines further down has none.
    if commands[name][1] then
      native.declare_command(name, commands[name][2] == cmdline.PARALLEL_COMMAND)
    end
  end
  for _, name in ipairs({ "cleanup", "help", "prepare" }) do
    if not commands[name] and type(environment[name]) == "function" then
      native.declare_command(name, false)
    end
  end
  return script.options ~= nil
end

-- The name of an option whose value the script's own check refuses.
function dyno.refused_option(environment, values)
  local refused
  each_option(environment.sysbench.cmdline, function(name, _, _, _, validate)
    local value = values[(name:gsub("-", "_"))]
    if validate and value ~= nil and not validate(value) then
      refused = refused or name
    end
  end)
  return refused
end

-- The function of a command.
function dyno.command(environment, name)
  local commands = environment.sysbench.cmdline.commands
  return commands and commands[name] and commands[name][1] or rawget(environment, name)
end
