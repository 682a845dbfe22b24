-- What everything else builds on. Rust has set: native, driver, sysbench_version, command_name, script_name,
-- script_source, search_path.
local dyno = ...

dyno.ffi = require("ffi")
dyno.base = _G
dyno.sysbench = {
  version = dyno.sysbench_version,
  version_string = "sysbench " .. dyno.sysbench_version,
  error = { NONE = 0, RESTART_EVENT = 1 },
}
-- What scripts write with io.write goes to C's standard output a line at a time, and print() to whoever reports the run:
-- the order between the two is open. What init() writes in whole lines does come before the header of the run.
io.stdout:setvbuf("line")
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
