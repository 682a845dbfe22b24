-- Reads a whole table and returns no row: SELECT * FROM sbtest1 WHERE LENGTH(c) < 0. Each thread always reads
-- the same table: thread 0 the first, and so on; with more threads than tables, the count starts again. An
-- event is one scan; multiply by --table-size to get rows.

require("oltp_common")

local sql

function prepare_statements()
  sql = "SELECT * FROM sbtest" .. (sysbench.tid % sysbench.opt.tables + 1) .. " WHERE LENGTH(c) < 0"
end

function event()
  con:query(sql)
  check_reconnect()
end
