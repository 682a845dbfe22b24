-- Takes 256 KiB of memory with each event, and gives none back. No event asks the server, which may be paused.

sysbench.cmdline.options = {
  mysql_storage_engine = {"Storage engine of tables that are made; here none are", ""},
  tables = {"Tables; here none are made", 1},
  table_size = {"Rows; here none are made", 0},
}

local PIECE = string.rep("x", 256 * 1024)

function thread_init()
  con = sysbench.sql.driver():connect()
  kept = {}
end

function event()
  kept[#kept + 1] = PIECE .. #kept
  ffi.C.usleep(20000)
end
