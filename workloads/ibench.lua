-- The insert benchmark: rows are inserted in order of their keys and deleted at the other end, below three secondary indexes, with
-- range and point queries beside. What an event is, the option `action` says.

local dialect_of = require("sql.dialect").of
local prepared = require("sql.prepared")
local tables = require("ibench.tables")

local format = string.format
local uniform = sysbench.rand.uniform
local INT = { sysbench.sql.type.BIGINT }

sysbench.cmdline.options = {
  action = { "An event: write, range, point, index or settle", "write" },
  tables = { "Tables", 1 },
  table_size = { "Rows of a table", 1000000 },
  rows_per_commit = { "Rows that a transaction inserts, and the next one deletes", 50 },
  rows_per_query = { "Rows that a query asks for", 10 },
  create_secondary = { "Make the secondary indexes in prepare", true },
  cash_registers = { "Different cash registers", 1000 },
  customers = { "Different customers", 100000 },
  products = { "Different products", 10000 },
  max_price = { "Different prices", 500 },
  data_length_min = { "Letters of data, at least", 10 },
  data_length_max = { "Letters of data, at most", 20 },
  mysql_storage_engine = { "Storage engine of the tables, on MySQL", "innodb" },
}

sysbench.cmdline.commands = {
  prepare = { tables.prepare, sysbench.cmdline.PARALLEL_COMMAND },
  cleanup = { tables.cleanup, sysbench.cmdline.PARALLEL_COMMAND },
  check = { tables.check, sysbench.cmdline.PARALLEL_COMMAND },
}

-- Queries after which a reader asks again which rows there are.
local QUERIES_PER_LOOK = 1000

local driver, con, deleter, name
-- The rows of this client's table.
local first, last
local act = {}

local function look()
  local from, to = con:query_row("SELECT MIN(transactionid), MAX(transactionid) FROM " .. name)
  if not from then
    error("ibench: " .. name .. " is empty; run prepare first", 0)
  end
  first, last = tonumber(from), tonumber(to)
end

-- Inserts rows and deletes as many of the oldest at the same time, in two transactions of two connections. If an earlier run ended
-- between the two, so many are deleted that the table has its size again. In SQLite, which has one writer, one follows the other.
function act.write()
  local opt = sysbench.opt
  if opt.threads > opt.tables then
    error(format("ibench: a table has one writer; %d writers need --tables=%d", opt.threads, opt.threads), 0)
  end
  look()
  deleter = driver:name() == "sqlite" and con or driver:connect()
  local is_one_statement = tables.fit_one_statement(opt.rows_per_commit)
  return function()
    local newest = last + opt.rows_per_commit
    local keep = newest - opt.table_size
    deleter:send(format("DELETE FROM %s WHERE transactionid BETWEEN %d AND %d", name, first, keep))
    if is_one_statement then
      tables.insert(con, name, last + 1, newest)
    else
      con:query("BEGIN")
      tables.insert(con, name, last + 1, newest)
      con:query("COMMIT")
    end
    if deleter ~= con then
      deleter:receive()
    end
    first, last = keep + 1, newest
  end
end

-- Some rows in the order of one of the secondary indexes.
function act.range()
  local opt, queries = sysbench.opt, {}
  local values = { productid = opt.products, cashregisterid = opt.cash_registers, price = opt.max_price }
  for at, index in ipairs(tables.INDEXES) do
    local column = index[2]:match("^%w+")
    local hint = driver:name() == "mysql" and format(" FORCE INDEX (%s_%s)", name, index[1]) or ""
    local sql = format("SELECT %s FROM %s%s WHERE %s >= ? ORDER BY %s LIMIT %d", index[2], name, hint, column, index[2],
      opt.rows_per_query)
    queries[at] = { prepared(con, sql, INT), values[column] - 1 }
  end
  return function()
    local query, most = unpack(queries[uniform(1, #queries)])
    query.bound[1]:set(uniform(0, most))
    query.statement:execute()
  end
end

-- Rows by their keys.
function act.point()
  local count = sysbench.opt.rows_per_query
  local types = {}
  for at = 1, count do types[at] = INT end
  local query = prepared(con, format("SELECT transactionid, productid, data FROM %s WHERE transactionid IN (?%s)", name,
    string.rep(", ?", count - 1)), unpack(types))
  local left = 0
  return function()
    if left == 0 then
      look()
      left = QUERIES_PER_LOOK
    end
    left = left - 1
    for at = 1, count do
      query.bound[at]:set(uniform(first, last))
    end
    query.statement:execute()
  end
end

-- Calls a function for one of this client's tables each time, and ends after the last.
local function table_by_table(visit)
  local number = sysbench.tid + 1
  return function()
    if number > sysbench.opt.tables then
      return true
    end
    visit(number)
    number = number + sysbench.opt.threads
  end
end

-- A step that was disturbed is run again, so the indexes of an earlier run are removed first.
function act.index()
  for number = sysbench.tid + 1, sysbench.opt.tables, sysbench.opt.threads do
    tables.drop_indexes(con, driver, number)
  end
  return table_by_table(function(number)
    tables.create_indexes(con, driver, number)
  end)
end

-- What databases do in the background, done at once: old versions of rows are removed, where a statement can do that.
function act.settle()
  return table_by_table(function(number)
    con:query(format(dialect_of(driver).settle, tables.name_of(number)))
  end)
end

function thread_init()
  local action = act[sysbench.opt.action]
    or error("action is one of write, range, point, index and settle, not " .. sysbench.opt.action, 0)
  driver = sysbench.sql.driver()
  con = driver:connect()
  name = tables.name_of(sysbench.tid % sysbench.opt.tables + 1)
  event = action()
end

-- The action, from thread_init on.
function event()
end

function thread_done()
  con:disconnect()
  if deleter then
    deleter:disconnect()
  end
end

-- One of a writer's two transactions may have ended.
function sysbench.hooks.before_restart_event()
  if sysbench.opt.action == "write" then
    look()
  end
end
