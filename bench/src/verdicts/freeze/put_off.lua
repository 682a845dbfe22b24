-- An event is a query of a fixed amount of work. The server does a part of it by itself, each 200 ms for the queries since
-- then: as many iterations of each query as the value of its max_connect_errors, less one. So servers do equal work for an
-- event, at different times.

sysbench.cmdline.options = {
   iterations = { "Work of an event", 2000 },
   mysql_storage_engine = { "Storage engine of tables, of which there are none", "innodb" },
}

local WORK = "SHA1('dyno')"
local QUERIES = "SELECT VARIABLE_VALUE INTO %s FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'COM_SELECT'"

function thread_init()
   con = sysbench.sql.driver():connect()
   local put_off = tonumber(con:query_row("SELECT @@max_connect_errors")) - 1
   query = string.format("SELECT BENCHMARK(%d, %s)", sysbench.opt.iterations - put_off, WORK)
   if sysbench.tid == 0 then
      con:query("SET GLOBAL event_scheduler = ON")
      con:query(string.format([[
         CREATE OR REPLACE EVENT put_off ON SCHEDULE AT CURRENT_TIMESTAMP DO BEGIN
            DECLARE done, queries BIGINT;
            %s;
            WHILE TRUE DO
               DO SLEEP(0.2);
               %s;
               DO BENCHMARK((queries - done) * %d, %s);
               SET done = queries;
            END WHILE;
         END]], QUERIES:format("done"), QUERIES:format("queries"), put_off, WORK))
   end
end

function event()
   con:query(query)
end

function thread_done()
   con:disconnect()
end
