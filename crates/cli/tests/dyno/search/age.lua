-- Changes the table of slow_if.lua.

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  con:query("UPDATE answer SET v = 43")
end

function thread_done()
  con:disconnect()
end
