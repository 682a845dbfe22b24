-- Events whose time differs: with `kind` slower, those of the system with a WAL take long; with turning, those of one system in
-- one round and those of the other in the next. With seen, the system's first row is noted.

sysbench.cmdline.options = {
  kind = {"slower, turning or seen", "slower"},
  tables = {"Number of tables, which are there already", 1},
  table_size = {"Rows in each", 10},
}

local function append(name, text)
  local file = assert(io.open(name, "a"))
  file:write(text, "\n")
  file:close()
end

local function lines(name)
  local count = 0
  for _ in io.lines(name) do
    count = count + 1
  end
  return count
end

function thread_init()
  slow_us = sysbench.opt.kind == "slower" and 60000 or 9000
  con = sysbench.sql.driver():connect()
  local mode = con:query_row("PRAGMA journal_mode")
  local is_wal = mode == "wal"
  if sysbench.opt.kind == "turning" then
    append(mode .. ".trials", "one")
    is_slow = (lines(mode .. ".trials") % 2 == 0) == is_wal
  elseif sysbench.opt.kind == "seen" then
    append(mode .. ".seen", (con:query_row("SELECT c FROM sbtest1 WHERE id = 1")))
  else
    is_slow = is_wal
  end
end

function event()
  con:query("SELECT 1")
  ffi.C.usleep(is_slow and slow_us or 3000)
end
