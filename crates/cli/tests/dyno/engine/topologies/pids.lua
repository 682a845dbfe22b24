-- Each event notes the process of the server that answers it. The check counts them.

sysbench.cmdline.options = {
  mysql_storage_engine = {"Storage engine of tables that are made; here none is named", ""},
  tables = {"Tables; here one is made", 1},
  table_size = {"Rows; here none are made", 0},
  processes_min = {"Fewest processes", 1},
  processes_max = {"Most processes", 1000},
}

local function connect()
  return sysbench.sql.driver():connect()
end

function prepare()
  local con = connect()
  con:query("CREATE TABLE pids (pid integer PRIMARY KEY)")
  con:disconnect()
end

function cleanup()
  local con = connect()
  con:query("DROP TABLE IF EXISTS pids")
  con:disconnect()
end

function thread_init()
  con = connect()
end

function event()
  con:query("INSERT INTO pids VALUES (pg_backend_pid()) ON CONFLICT DO NOTHING")
end

function thread_done()
  con:disconnect()
end

function check()
  local con = connect()
  local count = tonumber((con:query_row("SELECT count(*) FROM pids")))
  con:disconnect()
  if count < sysbench.opt.processes_min or count > sysbench.opt.processes_max then
    error(count .. " processes answered")
  end
end

sysbench.cmdline.commands = { check = { check } }
