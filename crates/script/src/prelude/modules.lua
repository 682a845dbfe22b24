-- print, os.exit, and the ways to load Lua text. What is compiled is shared by all tasks; what it does when it runs is
-- not.
local dyno = ...
local base, native = dyno.base, dyno.native

function dyno.print(line)
  native.print(line)
end

function base.print(...)
  local texts = {}
  for n = 1, select("#", ...) do
    texts[n] = tostring((select(n, ...)))
  end
  native.print(table.concat(texts, "\t"))
end

-- What is written to standard output goes the way of what is printed, and so keeps its order.
local files = getmetatable(io.stdout).__index
local write_to_file, write_to_output = files.write, io.write

local function write(...)
  for n = 1, select("#", ...) do
    local text = select(n, ...)
    if type(text) ~= "string" and type(text) ~= "number" then
      error(string.format("bad argument #%d to 'write' (string expected, got %s)", n, type(text)), 3)
    end
  end
  native.write(table.concat({ ... }))
end

function files:write(...)
  if self ~= io.stdout then
    return write_to_file(self, ...)
  end
  write(...)
  return true
end

function base.io.write(...)
  if io.output() ~= io.stdout then
    return write_to_output(...)
  end
  write(...)
  return true
end

-- What was printed is on its way to whoever writes it, and must not be lost. A number may be text, as Lua has it.
function base.os.exit(status)
  if status == nil or type(status) == "boolean" then
    status = status == false and 1 or 0
  end
  return native.exit(tonumber(status) or status)
end

-- The text of a script without the first line that names its interpreter.
local function without_shebang(source)
  return (source:gsub("^#[^\n]*", ""))
end

local chunks = {}

-- The function of a file or of given text, compiled once, in the environment of the task that runs.
-- It may run for one task at a time only, so `native.call` keeps it from waiting.
local function chunk(name, source)
  if not chunks[name] then
    local compiled, message = loadstring(without_shebang(source), "@" .. name)
    if not compiled then
      error(message, 0)
    end
    chunks[name] = compiled
  end
  return setfenv(chunks[name], getfenv(0))
end

local function read(path)
  local file, message = io.open(path, "rb")
  if not file then
    return nil, message
  end
  local source = file:read("*a")
  file:close()
  return source
end

-- Runs the script's top level. Every task's declares the same options, of which one copy is kept.
function dyno.run_script()
  native.call(chunk(dyno.script_name, dyno.script_source))
  local cmdline = getfenv(0).sysbench.cmdline
  dyno.declared_options = dyno.declared_options or cmdline.options
  cmdline.options = dyno.declared_options
end

-- The first file that one of the templates of `path` gives for a module, and its text; false where there is none.
local function search(name, path)
  local slashed = name:gsub("%.", "/")
  for template in path:gmatch("[^;]+") do
    local candidate = template:gsub("%?", slashed)
    local source = chunks[candidate] and "" or read(candidate)
    if source then
      return candidate, source
    end
  end
  return false
end

-- Where each module was found, by path and name: thousands of tasks look for the same ones.
local found = {}

local function search_once(name, path)
  local known = found[path] or {}
  found[path] = known
  local candidate, source = known[name], nil
  if candidate == nil or candidate and not chunks[candidate] then
    candidate, source = search(name, path)
    known[name] = candidate
  end
  return candidate, source
end

function base.require(name)
  local package = getfenv(0).package
  if package.loaded[name] ~= nil then
    return package.loaded[name]
  end
  local result
  local preload, path, source = package.preload[name], search_once(name, package.path)
  local builtin = not path and native.builtin(name)
  if preload then
    result = preload(name)
  elseif path then
    result = native.call(chunk(path, source), name)
  elseif builtin then
    result = native.call(chunk(name .. ".lua", builtin), name)
  else
    result = dyno.require_library(name, package)
  end
  if result ~= nil then
    package.loaded[name] = result
  elseif package.loaded[name] == nil then
    package.loaded[name] = true
  end
  return package.loaded[name]
end

-- A module that is a C library.
function dyno.require_library(name, package)
  local library = base.package.searchpath(name, package.cpath)
  if not library then
    error(string.format("module '%s' not found in %s", name, package.path), 3)
  end
  local open, message = base.package.loadlib(library, "luaopen_" .. name:gsub("%.", "_"))
  if not open then
    error(message, 3)
  end
  return open(name)
end

function base.loadfile(path)
  local source, message = read(path)
  if not source then
    return nil, message
  end
  return loadstring(without_shebang(source), "@" .. path)
end

function base.dofile(path)
  local source, message = chunks[path] and "", nil
  if not source then
    source, message = read(path)
  end
  source = source or native.builtin((path:gsub("^.*/", ""):gsub("%.lua$", ""))) or error(message, 2)
  return native.call(chunk(path, source))
end

function base.module(name, ...)
  local globals = getfenv(0)
  local module = globals.package.loaded[name]
  if type(module) ~= "table" then
    module = {}
    local parent, last = globals, name
    for part in name:gmatch("([^.]+)%.") do
      parent[part] = parent[part] or {}
      parent, last = parent[part], name:match("[^.]+$")
    end
    parent[last] = module
    globals.package.loaded[name] = module
  end
  module._M, module._NAME, module._PACKAGE = module, name, name:match("^(.*%.)[^.]*$") or ""
  setfenv(2, module)
  for n = 1, select("#", ...) do
    select(n, ...)(module)
  end
end

function base.package.seeall(module)
  setmetatable(module, { __index = getfenv(0) })
end
