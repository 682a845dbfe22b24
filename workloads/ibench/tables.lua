-- The tables of the insert benchmark, their indexes, and the check of their rows.

local dialect_of = require("sql.dialect").of

local format = string.format
local uniform, random_string = sysbench.rand.uniform, sysbench.rand.string

-- The secondary indexes: name and columns. Their first column is what range queries search by.
local INDEXES = {
  { "market", "productid, customerid, price" },
  { "register", "cashregisterid, customerid, price" },
  { "pdc", "price, dateandtime, customerid" },
}

local function name_of(table_number)
  return "purchases" .. table_number
end

-- Forms of data by its length: as in iibench.py, three of eight letters are random.
local forms = {}

local function form_of(length)
  local random = math.floor(length * 3 / 8)
  forms[length] = string.rep("a", length - random) .. string.rep("@", random)
  return forms[length]
end

-- A row as SQL.
local function row(id)
  local opt = sysbench.opt
  local length = uniform(opt.data_length_min, opt.data_length_max)
  return format("(%d, CURRENT_TIMESTAMP, %d, %d, %d, %d, '%s')", id,
    uniform(0, opt.cash_registers - 1), uniform(0, opt.customers - 1), uniform(0, opt.products - 1),
    uniform(0, opt.max_price - 1), random_string(forms[length] or form_of(length)))
end

-- Inserts rows with these numbers by statements of up to half a megabyte.
local function insert(con, name, first, last)
  con:bulk_insert_init("INSERT INTO " .. name .. " VALUES")
  for id = first, last do
    con:bulk_insert_next(row(id))
  end
  con:bulk_insert_done()
end

-- Whether so many rows are surely one statement.
local function fit_one_statement(rows)
  return rows * (sysbench.opt.data_length_max + 120) <= 500000
end

local function create_indexes(con, driver, number)
  local name = name_of(number)
  local at_once = driver:name() == "mysql" and sysbench.opt.mysql_storage_engine:lower() ~= "rocksdb"
  local additions = {}
  for _, index in ipairs(INDEXES) do
    additions[#additions + 1] = format("ADD INDEX %s_%s (%s)", name, index[1], index[2])
    if not at_once then
      con:query(format("CREATE INDEX %s_%s ON %s (%s)", name, index[1], name, index[2]))
    end
  end
  if at_once then
    con:query("ALTER TABLE " .. name .. " " .. table.concat(additions, ", "))
  end
end

-- Removes the secondary indexes of a table, as far as it has them.
local function drop_indexes(con, driver, number)
  local name = name_of(number)
  for _, index in ipairs(INDEXES) do
    local own = name .. "_" .. index[1]
    if driver:name() ~= "mysql" then
      con:query("DROP INDEX IF EXISTS " .. own)
    elseif con:query_row(format([[SELECT 1 FROM information_schema.statistics
        WHERE table_schema = DATABASE() AND index_name = '%s' LIMIT 1]], own)) then
      con:query(format("DROP INDEX %s ON %s", own, name))
    end
  end
end

-- Calls a function for each of this thread's tables.
local function for_own_tables(act)
  local driver = sysbench.sql.driver()
  local con = driver:connect()
  for number = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
    act(con, driver, number)
  end
  con:disconnect()
end

local function create(con, driver, number)
  local name, opt = name_of(number), sysbench.opt
  print("ibench: filling " .. name)
  con:query(format([[CREATE TABLE %s (transactionid BIGINT NOT NULL, dateandtime %s, cashregisterid INTEGER NOT NULL,
    customerid INTEGER NOT NULL, productid INTEGER NOT NULL, price INTEGER NOT NULL, data VARCHAR(4000),
    PRIMARY KEY (transactionid)) /*! ENGINE = %s */]], name, dialect_of(driver).datetime, opt.mysql_storage_engine))
  insert(con, name, 1, opt.table_size)
  if opt.create_secondary then
    create_indexes(con, driver, number)
  end
end

local function prepare()
  for_own_tables(create)
end

local function cleanup()
  for_own_tables(function(con, _, number)
    con:query("DROP TABLE IF EXISTS " .. name_of(number))
  end)
end

-- Rows are numbered without gaps, and there are as many as at first; or those of one transaction more or less, if a run ended
-- between inserting and deleting.
local function check()
  for_own_tables(function(con, _, number)
    local name, opt = name_of(number), sysbench.opt
    local found = { con:query_row("SELECT COUNT(*), MIN(transactionid), MAX(transactionid) FROM " .. name) }
    local rows, first, last = tonumber(found[1]), tonumber(found[2] or 0), tonumber(found[3] or -1)
    if last - first + 1 ~= rows or math.abs(rows - opt.table_size) > opt.rows_per_commit then
      error(format("ibench: %s has %d rows from %d to %d, where %d rows without gaps are expected", name, rows, first,
        last, opt.table_size), 0)
    end
  end)
end

return {
  INDEXES = INDEXES, name_of = name_of, insert = insert, fit_one_statement = fit_one_statement, create_indexes = create_indexes,
  drop_indexes = drop_indexes, prepare = prepare, cleanup = cleanup, check = check,
}
