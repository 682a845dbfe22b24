-- Updates the column c, which has no index. Each update is a transaction.

require("oltp_common")

function prepare_statements()
  prepare_non_index_updates()
end

function event()
  execute_non_index_updates()
  check_reconnect()
end
