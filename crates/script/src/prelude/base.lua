-- What everything else builds on. Rust has set: native, driver, command_name, script_name, script_source,
-- search_path.
local dyno = ...

dyno.ffi = require("ffi")
dyno.base = _G
dyno.sysbench = {
  version = "1.0.20",
  version_string = "sysbench 1.0.20",
  error = { NONE = 0, RESTART_EVENT = 1 },
}
-- What scripts write with io.write goes to C's standard output a line at a time, and print() to whoever reports the run:
-- the order between the two is open. What init() writes in whole lines does come before the header of the run.
io.stdout:setvbuf("line")
package.path = dyno.search_path .. package.path
