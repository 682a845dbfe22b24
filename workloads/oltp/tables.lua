-- Creates, fills, warms up and drops the tables sbtest1, sbtest2, ...

local dialect_of = require("sql.dialect").of

local format = string.format

-- Whether the database generates the ids of a table's rows.
function generates_ids(dialect)
  return sysbench.opt.auto_inc and not (sysbench.opt.secondary and dialect.only_primary_keys_generated)
end

local function columns(dialect)
  local opt = sysbench.opt
  local lines = {
    "id " .. (generates_ids(dialect) and dialect.generated_id or "INTEGER NOT NULL"),
    "k INTEGER DEFAULT '0' NOT NULL",
    "c CHAR(120) DEFAULT '' NOT NULL",
    "pad CHAR(60) DEFAULT '' NOT NULL",
  }
  if opt.filler_bytes > 0 then
    lines[#lines + 1] = format("filler VARCHAR(%d) DEFAULT '' NOT NULL", opt.filler_bytes)
  end
  if not opt.secondary then
    lines[#lines + 1] = "PRIMARY KEY (id)"
  elseif dialect.keys_made_with_table then
    lines[#lines + 1] = "KEY xid (id)"
  end
  return table.concat(lines, ", ")
end

local function make_table(con, dialect, table_num)
  local opt = sysbench.opt
  con:query(format("CREATE TABLE sbtest%d (%s) /*! ENGINE = %s */ %s",
    table_num, columns(dialect), opt.mysql_storage_engine, opt.create_table_options))
  if opt.filler_bytes > 0 and dialect.keep_in_row then
    con:query(format(dialect.keep_in_row, "sbtest" .. table_num, "filler"))
  end
end

local function insert_rows(con, dialect, table_num)
  local with_ids = not generates_ids(dialect)
  local has_filler = sysbench.opt.filler_bytes > 0
  con:bulk_insert_init(format("INSERT INTO sbtest%d (%sk, c, pad%s) VALUES",
    table_num, with_ids and "id, " or "", has_filler and ", filler" or ""))
  for id = 1, sysbench.opt.table_size do
    local given_id = with_ids and id .. ", " or ""
    local filler = has_filler and ", '" .. get_filler() .. "'" or ""
    con:bulk_insert_next(format("(%s%d, '%s', '%s'%s)", given_id, get_id(), get_c_value(), get_pad_value(), filler))
  end
  con:bulk_insert_done()
end

local function make_indexes(con, dialect, table_num)
  if sysbench.opt.secondary and not dialect.keys_made_with_table then
    con:query(format("CREATE INDEX xid_%d ON sbtest%d (id)", table_num, table_num))
  end
  if sysbench.opt.create_secondary then
    con:query(format("CREATE INDEX k_%d ON sbtest%d (k)", table_num, table_num))
  end
end

-- Creates and fills one table. Indexes are made after the rows, which is faster than maintaining them. A
-- script may replace this function to use different tables.
function create_table(driver, con, table_num)
  local dialect = dialect_of(driver)
  print(format("sbtest%d: creating", table_num))
  make_table(con, dialect, table_num)
  print(format("sbtest%d: inserting %d rows", table_num, sysbench.opt.table_size))
  insert_rows(con, dialect, table_num)
  print(format("sbtest%d: indexing", table_num))
  make_indexes(con, dialect, table_num)
end

-- Reads a table and its index completely, so that both are in memory.
local function warm_table(driver, con, table_num)
  local name = "sbtest" .. table_num
  print(name .. ": warming up")
  con:query(format(dialect_of(driver).analyze, name))
  con:query(format("SELECT COUNT(*) FROM %s WHERE LENGTH(c) > 0", name))
  con:query(format("SELECT SUM(k) FROM %s", name))
end

-- Applies an action to the tables that belong to this thread.
local function for_own_tables(action)
  adapt_options_to_variant()
  local driver = sysbench.sql.driver()
  local con = driver:connect()
  for table_num = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
    action(driver, con, table_num)
  end
  con:disconnect()
end

function cmd_prepare()
  for_own_tables(create_table)
end

function cmd_warmup()
  for_own_tables(warm_table)
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  for table_num = 1, sysbench.opt.tables do
    print(format("sbtest%d: dropping", table_num))
    con:query("DROP TABLE IF EXISTS sbtest" .. table_num)
  end
  con:disconnect()
end
