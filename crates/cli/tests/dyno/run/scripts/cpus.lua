-- Writes now and then how many threads of the server may run on which CPUs, and the same of the load.

sysbench.cmdline.options = {
  mysql_storage_engine = {"Storage engine of tables that are made; here none are", ""},
}

function thread_init()
  con = sysbench.sql.driver():connect()
  local folder, name = con:query_row("SELECT @@datadir, @@pid_file")
  local file = assert(io.open(name:sub(1, 1) == "/" and name or folder .. name))
  server = file:read("*l")
  file:close()
  events = 0
end

local function count(pid, name)
  os.execute("grep -h Cpus_allowed_list /proc/" .. pid .. "/task/*/status | sort | uniq -c >> " .. name)
end

function event()
  con:query("SELECT 1")
  events = events + 1
  if events % 200 == 1 then
    count(server, "server")
    count("$PPID", "load")
  end
end
