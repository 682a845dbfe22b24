-- A server whose max_connect_errors is 4242 does not answer the hundredth event.

function thread_init()
  con = sysbench.sql.driver():connect()
  hangs = tonumber(con:query_row("SELECT @@max_connect_errors")) == 4242
  events = 0
end

function event()
  events = events + 1
  con:query(hangs and events == 100 and "SELECT SLEEP(3600)" or "SELECT 1")
end

function thread_done()
  con:disconnect()
end
