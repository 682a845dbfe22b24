-- The writes of the OLTP transaction: two updates, and one row that is deleted and inserted again.

require("oltp_common")

function prepare_statements()
  prepare_write_transaction()
  prepare_writes()
end

function event()
  begin()
  execute_writes()
  commit()
  check_reconnect()
end
