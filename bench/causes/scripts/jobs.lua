-- A queue of jobs of which five wait: the first of those that wait is asked for.

local ROWS = 20000

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE jobs (id INT PRIMARY KEY, state INT NOT NULL)")
  con:bulk_insert_init("INSERT INTO jobs VALUES")
  for id = 1, ROWS do
    con:bulk_insert_next(string.format("(%d, %d)", id, id > ROWS - 5 and 1 or 0))
  end
  con:bulk_insert_done()
  con:query("CREATE INDEX jobs_state ON jobs (state)")
  con:query("ANALYZE jobs")
  con:disconnect()
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS jobs")
  con:disconnect()
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  con:query("SELECT id FROM jobs WHERE state = 1 ORDER BY id LIMIT 10")
end

function thread_done()
  con:disconnect()
end
