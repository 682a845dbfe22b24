-- Selects the rows of one table that match a list of values: SELECT <columns> FROM sbtest1 WHERE <key> IN (?, …).
-- There is no transaction. Each value is drawn like an id, independently of the others, so a list may contain
-- a value twice.
--
-- --key and --columns choose the access path:
--   id, "c"       rows by primary key           k, "k"      the index on k alone
--   id, "id"      the primary key alone         k, "k, c"   the index on k, then the rows
--   id, "id, c"   the primary key, and rows

require("oltp_common")

local inlist = require("oltp.inlist")
local key = require("oltp.key")

sysbench.cmdline.options.random_points = { "Values in the IN list", 10 }
sysbench.cmdline.options.hot_points = { "Ask for the same values each time, those from 1 on", false }

local points, hot

function prepare_statements()
  points, hot = sysbench.opt.random_points, sysbench.opt.hot_points
  for table_num = 1, sysbench.opt.tables do
    local sql = key.select_where(table_num) .. " IN " .. inlist.list(points)
    prepare_for_table(table_num, "points", sql, inlist.types(points))
  end
end

function event()
  local table_num = get_table_num()
  local params = param[table_num].points
  for i = 1, points do
    params[i]:set(hot and i or get_id())
  end
  stmt[table_num].points:execute()
  check_reconnect()
end
