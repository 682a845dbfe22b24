-- Drops the index that the OLTP scripts make on k.

sysbench.cmdline.options = {
  tables = { "How many tables", 1 },
  table_size = { "Rows in each table", 10000 },
}

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  con:query("DROP INDEX k_1 ON sbtest1")
end

function thread_done()
  con:disconnect()
end
