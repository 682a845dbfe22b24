-- Inserts many rows at a time. Each thread fills its own table, which is empty at first. An event is one row.

local function for_each_table(sql)
  local con = sysbench.sql.driver():connect()
  for table_num = 1, sysbench.opt.threads do
    con:query(string.format(sql, table_num))
  end
  con:disconnect()
end

function prepare()
  for_each_table("CREATE TABLE IF NOT EXISTS sbtest%d"
    .. " (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id))")
end

function cleanup()
  for_each_table("DROP TABLE IF EXISTS sbtest%d")
end

local con
local rows = 0

function thread_init()
  con = sysbench.sql.driver():connect()
  con:bulk_insert_init(string.format("INSERT INTO sbtest%d VALUES", sysbench.tid + 1))
end

function event()
  rows = rows + 1
  con:bulk_insert_next(string.format("(%d, %d)", rows, rows))
end

function thread_done()
  con:bulk_insert_done()
  con:disconnect()
end
