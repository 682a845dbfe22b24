-- Updates the column c, which has no index, in the rows of a list of ids:
-- UPDATE sbtest1 SET c=? WHERE id IN (?, …). Each update is a transaction.

require("oltp_common")

local inlist = require("oltp.inlist")

sysbench.cmdline.options.random_points = { "Ids in the IN list", 10 }

local C = { sysbench.sql.type.CHAR, 120 }
local points

function prepare_statements()
  points = sysbench.opt.random_points
  for table_num = 1, sysbench.opt.tables do
    local sql = "UPDATE sbtest" .. table_num .. " SET c=? WHERE id IN " .. inlist.list(points)
    prepare_for_table(table_num, "inlist_updates", sql, C, inlist.types(points))
  end
end

function event()
  local table_num = get_table_num()
  local params = param[table_num].inlist_updates
  params[1]:set_rand_str(c_value_template)
  for i = 2, points + 1 do
    params[i]:set(get_id())
  end
  stmt[table_num].inlist_updates:execute()
  check_reconnect()
end
