-- Kills the server whose max_connections is 51, once for each `killer`: by its own load, or by that of the other.

sysbench.cmdline.options = {
  mysql_storage_engine = {"Storage engine of tables that are made; here none are", ""},
  killer = {"Whose load kills: own or other", "own"},
}

local function exists(name)
  local file = io.open(name)
  if file then file:close() end
  return file ~= nil
end

local function write(name, text)
  local file = assert(io.open(name, "w"))
  file:write(text)
  file:close()
end

function thread_init()
  con = sysbench.sql.driver():connect()
  local connections, folder, name = con:query_row("SELECT @@max_connections, @@datadir, @@pid_file")
  is_victim = tonumber(connections) == 51
  if is_victim then
    local file = assert(io.open(name:sub(1, 1) == "/" and name or folder .. name))
    write("victim", file:read("*l"))
    file:close()
  end
  kills = is_victim == (sysbench.opt.killer == "own")
  events = 0
end

function event()
  con:query("SELECT 1")
  events = events + 1
  if kills and events == 20 and not exists("killed-" .. sysbench.opt.killer) then
    write("killed-" .. sysbench.opt.killer, "")
    local file = assert(io.open("victim"))
    os.execute("kill -9 " .. file:read("*l"))
    file:close()
  end
end

function thread_done()
  con:disconnect()
end
