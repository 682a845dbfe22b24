-- Deletes one row by primary key. Deleted rows do not come back, so more and more deletes find no row.

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
