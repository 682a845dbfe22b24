-- Statements that take the server longer, or fail, where a condition on its variables holds: what a search is to find.

sysbench.cmdline.options = {
  slow_if = {"Condition in SQL", "0"},
  fail_if = {"Condition in SQL on which every event fails", "0"},
  slow_by = {"Statement that takes long; without one the client takes the time", "SELECT SLEEP(0.1)"},
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
  fails = tonumber(con:query_row("SELECT " .. sysbench.opt.fail_if)) == 1
  is_slow = tonumber(con:query_row("SELECT " .. sysbench.opt.slow_if)) == 1
end

-- An engine in the load process may have no statement that sleeps.
function wait()
  if sysbench.opt.slow_by ~= "" then
    con:query(sysbench.opt.slow_by)
    return
  end
  os.execute("sleep 0.1")
end

function event()
  if fails then
    error("it fails with these settings")
  end
  con:query("SELECT v FROM answer WHERE id = 1")
  if is_slow then
    wait()
  end
end

function thread_done()
  con:disconnect()
end
