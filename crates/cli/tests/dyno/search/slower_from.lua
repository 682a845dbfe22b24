-- A statement that takes the server longer from a version on: what a search for that version is to find.

sysbench.cmdline.options = {
  slower_from = {"First version that is slow: major + minor / 100", 0},
}

function thread_init()
  local driver = sysbench.sql.driver()
  con = driver:connect()
  local major, minor = con:query_row("SELECT VERSION()"):match("(%d+)%.(%d+)")
  local is_slow = major + minor / 100 >= sysbench.opt.slower_from - 0.001
  local sleep = driver:name() == "pgsql" and "pg_sleep" or "SLEEP"
  statement = is_slow and "SELECT " .. sleep .. "(0.1)" or "SELECT 1"
end

function event()
  con:query(statement)
end

function thread_done()
  con:disconnect()
end
