-- What everything else builds on. Rust has set: native, driver, sysbench_version, command_name, script_name,
-- script_source, search_path, arguments.
local dyno = ...

dyno.ffi = require("ffi")
dyno.base = _G
dyno.sysbench = {
  version = dyno.sysbench_version,
  version_string = "sysbench " .. dyno.sysbench_version,
  error = { NONE = 0, RESTART_EVENT = 1 },
}
package.path = dyno.search_path .. package.path
-- Modules in C: where `luarocks` and packages put them.
local home = os.getenv("HOME")
local folders = { "/usr/lib/lua/5.1" }
if home then
  table.insert(folders, 1, home .. "/.luarocks/lib/lua/5.1")
end
for _, folder in ipairs(folders) do
  package.cpath = package.cpath .. ";" .. folder .. "/?.so"
end
