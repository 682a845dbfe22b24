-- Selects one row by primary key.

require("oltp_common")

function prepare_statements()
  prepare_point_selects()
end

function event()
  local table_num = get_table_num()
  param[table_num].point_selects[1]:set(get_id())
  stmt[table_num].point_selects:execute()
  check_reconnect()
end
