-- Selects one row by primary key.

require("oltp_common")

-- Each table's statement, and its parameter.
local selects, ids

function prepare_statements()
  prepare_point_selects()
  selects, ids = {}, {}
  for table_num = 1, sysbench.opt.tables do
    selects[table_num], ids[table_num] = stmt[table_num].point_selects, param[table_num].point_selects[1]
  end
end

local get_table_num, get_id, check_reconnect = get_table_num, get_id, check_reconnect

function event()
  local table_num = get_table_num()
  ids[table_num]:set(get_id())
  selects[table_num]:execute()
  check_reconnect()
end
