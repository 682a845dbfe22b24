-- Each thread adds a row with its number and a unique number. Numbers that two threads share are an error of the server.
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE seen (tid INT PRIMARY KEY, number BIGINT UNIQUE)")
  con:disconnect()
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS seen")
  con:disconnect()
end

function thread_init()
  con = sysbench.sql.driver():connect()
  con:query(string.format("INSERT INTO seen VALUES (%d, %d)", sysbench.tid, sysbench.rand.unique()))
end

function thread_done()
  con:disconnect()
end

function event()
  con:query("SELECT 1")
end
