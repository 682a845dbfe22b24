-- A join of a table with itself on columns that have no index.

local ROWS = 200

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE part (id INT PRIMARY KEY, v INT NOT NULL, pad CHAR(200) NOT NULL) ENGINE = InnoDB")
  con:bulk_insert_init("INSERT INTO part VALUES")
  for id = 1, ROWS do
    con:bulk_insert_next(string.format("(%d, %d, '%s %d')", id, id % 100, string.rep("part ", 35), id))
  end
  con:bulk_insert_done()
  con:disconnect()
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS part")
  con:disconnect()
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  con:query("SELECT COUNT(*) FROM part a JOIN part b ON a.v = b.v AND a.pad <> b.pad AND b.pad NOT LIKE '%parts%'")
end

function thread_done()
  con:disconnect()
end
