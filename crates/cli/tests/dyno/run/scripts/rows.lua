-- Fails unless a table has as many rows as it should; notes which server it asked.

sysbench.cmdline.options = {
  mysql_storage_engine = {"Storage engine of tables that are made; here none are", ""},
  tables = {"Tables that were loaded", 1},
  table_size = {"Rows that were loaded into each", 0},
  rows_min = {"Fewest rows of the first table", 0},
  rows_max = {"Most rows of the first table", 0},
}

function thread_init()
  con = sysbench.sql.driver():connect()
  local folder, name = con:query_row("SELECT @@datadir, @@pid_file")
  local file = assert(io.open(name:sub(1, 1) == "/" and name or folder .. name))
  local pid = file:read("*l")
  file:close()
  local pids = assert(io.open("pids", "a"))
  pids:write(pid, "\n")
  pids:close()
  local rows = tonumber((con:query_row("SELECT count(*) FROM sbtest1")))
  if rows < sysbench.opt.rows_min or rows > sysbench.opt.rows_max then
    error("there are " .. rows .. " rows")
  end
end

function event()
  con:query("SELECT count(*) FROM sbtest1")
end

function thread_done()
  con:disconnect()
end
