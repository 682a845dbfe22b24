-- Selects a range of one table: SELECT <columns> FROM sbtest1 WHERE <key> BETWEEN ? AND ?. There is no
-- transaction.
--
-- --key and --columns choose the access path:
--   id, "id"      the primary key alone      k, "k"      the index on k alone
--   id, "id, c"   the primary key, and rows  k, "k, c"   the index on k, then the rows
--   id, "count(c)" counts the rows of the range and returns one row
-- A range of k contains --range-size values and, on average, as many rows.

require("oltp_common")

local key = require("oltp.key")

local INT = { sysbench.sql.type.INT }

function prepare_statements()
  for table_num = 1, sysbench.opt.tables do
    prepare_for_table(table_num, "range", key.select_where(table_num) .. " BETWEEN ? AND ?", INT, INT)
  end
end

function event()
  local table_num = get_table_num()
  local params = param[table_num].range
  local first = get_id()
  params[1]:set(first)
  params[2]:set(first + sysbench.opt.range_size - 1)
  stmt[table_num].range:execute()
  check_reconnect()
end
