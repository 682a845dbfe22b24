-- Selects the rows of one table that have any of several random values in the indexed column k.

require("oltp_common")

local inlist = require("oltp.inlist")

sysbench.cmdline.options.random_points = { "Values in the IN list", 10 }

local points

function prepare_statements()
  points = sysbench.opt.random_points
  local sql = "SELECT id, k, c, pad FROM sbtest1 WHERE k IN " .. inlist.list(points)
  prepare_for_table(1, "random_points", sql, inlist.types(points))
end

function event()
  local params = param[1].random_points
  for i = 1, points do
    params[i]:set(get_id())
  end
  stmt[1].random_points:execute()
  check_reconnect()
end
