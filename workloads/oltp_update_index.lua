-- Updates the indexed column k. Each update is a transaction.

require("oltp_common")

function prepare_statements()
  prepare_index_updates()
end

function event()
  execute_index_updates()
  check_reconnect()
end
