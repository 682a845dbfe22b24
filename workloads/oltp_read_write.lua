-- The complete OLTP transaction: the reads of oltp_read_only, then the writes of oltp_write_only.

require("oltp_common")

function prepare_statements()
  prepare_write_transaction()
  prepare_reads()
  prepare_writes()
end

function event()
  begin()
  execute_reads()
  execute_writes()
  commit()
  check_reconnect()
end
