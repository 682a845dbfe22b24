-- A table read from end to end, of which no row is sent back: SELECT * FROM sbtest1 WHERE LENGTH(c) < 0.
-- Each thread keeps to one table, the first thread to the first; beyond the last table it starts over.
-- An event is one scan: times --table-size it gives rows.

require("oltp_common")

local sql

function prepare_statements()
  sql = "SELECT * FROM sbtest" .. (sysbench.tid % sysbench.opt.tables + 1) .. " WHERE LENGTH(c) < 0"
end

function event()
  con:query(sql)
  check_reconnect()
end
