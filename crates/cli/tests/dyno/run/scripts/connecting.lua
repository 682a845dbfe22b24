-- A connection is ready when one to the other system has begun; with `fails`, that to the system with this journal mode fails.

sysbench.cmdline.options = {
  fails = {"Journal mode of the system whose connection fails", "none"},
}

local function exists(name)
  local file = io.open(name)
  return file and file:close()
end

function thread_init()
  con = sysbench.sql.driver():connect()
  local mode = con:query_row("PRAGMA journal_mode")
  if mode == sysbench.opt.fails then
    error("no connection to " .. mode)
  end
  if sysbench.opt.fails == "none" then
    assert(io.open(mode .. ".begun", "w")):close()
    local other = (mode == "wal" and "delete" or "wal") .. ".begun"
    local until_seconds = os.time() + 20
    while not exists(other) do
      assert(os.time() < until_seconds, "no other load connects")
      ffi.C.usleep(1000)
    end
  end
end

function event()
  con:query("SELECT 1")
end
