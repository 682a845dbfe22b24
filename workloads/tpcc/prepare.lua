-- Creates and fills the tables with all threads at once.
--
-- The work on a set is divided into parts: its items, and each warehouse. Threads can wait for each other
-- only through the database. While set N is filled, the table loading<N> counts the remaining parts. The
-- thread that finishes the last part adds the indexes and foreign keys.

local dialect_of = require("sql.dialect").of
local load = require("tpcc.load")
local schema = require("tpcc.schema")

local LONGEST_WAIT_S = 60
local POLLS_A_SECOND = 10

ffi.cdef("int usleep(unsigned int us);")

local function parts_left(con, set)
  return tonumber((con:query_row("SELECT parts_left FROM loading" .. set)))
end

local function create_set(con, dialect, set)
  print("tpcc set " .. set .. ": creating tables")
  schema.create_tables(con, dialect, set)
  con:query("CREATE TABLE loading" .. set .. " (id INTEGER NOT NULL, parts_left INTEGER NOT NULL, PRIMARY KEY (id))")
  con:query("INSERT INTO loading" .. set .. " VALUES (1, " .. sysbench.opt.scale + 1 .. ")")
end

-- Whether a thread has created the tables of a set.
local function is_created(con, dialect, set)
  local found = con:query_row(string.format(dialect.find_table, "loading" .. set))
  return tonumber(found) > 0 and parts_left(con, set) ~= nil
end

local function wait_until_created(con, dialect, set)
  for _ = 1, LONGEST_WAIT_S * POLLS_A_SECOND do
    if is_created(con, dialect, set) then
      return
    end
    ffi.C.usleep(1000000 / POLLS_A_SECOND)
  end
  error("the thread that makes tpcc set " .. set .. " has not done so in " .. LONGEST_WAIT_S .. " s", 0)
end

local function load_part(con, set, part)
  if part == 0 then
    print("tpcc set " .. set .. ": loading items")
    load.items(con, set)
  else
    print("tpcc set " .. set .. ": loading warehouse " .. part)
    load.warehouse(con, set, part)
  end
end

-- Counts a part as done. Returns true for the last one of the set.
local function end_part(con, dialect, set)
  con:query(dialect.begin_write)
  con:query("UPDATE loading" .. set .. " SET parts_left = parts_left - 1")
  local left = parts_left(con, set)
  con:query("COMMIT")
  return left == 0
end

local function finish_set(con, dialect, set, finish)
  print("tpcc set " .. set .. ": adding indexes and foreign keys")
  schema.add_indexes(con, dialect, set)
  schema.add_foreign_keys(con, dialect, set)
  if finish then
    finish(con, dialect, set)
  end
  con:query("DROP TABLE loading" .. set)
end

-- Calls `finish`, if it is given, once for each set with all of its tables.
local function prepare_then(finish)
  local driver = sysbench.sql.driver()
  local dialect, con = dialect_of(driver), driver:connect()
  if dialect.prepare_load then
    con:query(dialect.prepare_load)
  end
  local tid, threads, sets = sysbench.tid % sysbench.opt.threads, sysbench.opt.threads, sysbench.opt.tables
  for set = tid + 1, sets, threads do
    create_set(con, dialect, set)
  end
  local parts = sysbench.opt.scale + 1
  for i = tid, sets * parts - 1, threads do
    local set = math.floor(i / parts) + 1
    wait_until_created(con, dialect, set)
    load_part(con, set, i % parts)
    if end_part(con, dialect, set) then
      finish_set(con, dialect, set, finish)
    end
  end
  con:disconnect()
end

local function prepare()
  prepare_then(nil)
end

local function cleanup()
  local con = sysbench.sql.driver():connect()
  for set = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
    print("tpcc set " .. set .. ": dropping tables")
    schema.drop_tables(con, set)
    con:query("DROP TABLE IF EXISTS loading" .. set)
  end
  con:disconnect()
end

return { prepare = prepare, prepare_then = prepare_then, cleanup = cleanup }
