-- Statements that take the server longer where a condition on its variables holds: what an explanation is to find.

sysbench.cmdline.options = {
  slow_if = {"Condition in SQL", "0"},
}

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE answer (id INT PRIMARY KEY, v INT)")
  con:query("INSERT INTO answer VALUES (1, 42)")
  con:disconnect()
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS answer")
  con:disconnect()
end

function thread_init()
  con = sysbench.sql.driver():connect()
  is_slow = tonumber(con:query_row("SELECT " .. sysbench.opt.slow_if)) == 1
end

function event()
  con:query("SELECT v FROM answer WHERE id = 1")
  if is_slow then
    con:query("SELECT SLEEP(0.1)")
  end
end

function thread_done()
  con:disconnect()
end
