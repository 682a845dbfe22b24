-- A server whose max_connect_errors is 4242 computes all the time, in a thread of its own.

function thread_init()
  con = sysbench.sql.driver():connect()
  local is_it = tonumber(con:query_row("SELECT @@max_connect_errors")) == 4242
  if is_it and sysbench.tid == 0 then
    con:query("SET GLOBAL event_scheduler = ON")
    con:query([[
      CREATE OR REPLACE EVENT works ON SCHEDULE AT CURRENT_TIMESTAMP DO BEGIN
        WHILE TRUE DO
          DO BENCHMARK(10000, SHA1('dyno'));
        END WHILE;
      END]])
  end
end

function event()
  con:query("SELECT 1")
end

function thread_done()
  con:disconnect()
end
