-- One row deleted by primary key. Rows do not come back, so deletes come to find nothing in the long run.

require("oltp_common")

function prepare_statements()
  prepare_for_each_table("deletes")
end

function event()
  local table_num = get_table_num()
  param[table_num].deletes[1]:set(get_id())
  stmt[table_num].deletes:execute()
  check_reconnect()
end
