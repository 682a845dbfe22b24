-- The reads of the OLTP transaction: point selects, then each kind of range query.

require("oltp_common")

function prepare_statements()
  prepare_read_transaction()
  prepare_reads()
end

function event()
  begin()
  execute_reads()
  commit()
  check_reconnect()
end
