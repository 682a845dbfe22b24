-- The writes of the OLTP transaction: updates of an indexed and of a plain column, a row deleted and inserted again.

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
