-- The tables that CH-benCHmark adds to those of TPC-C: suppliers, nations and regions. They are not written after the load.

local dialect_of = require("sql.dialect").of
local fill = require("tpcc.template").fill
local load = require("tpcc.prepare")
local random = require("tpcc.random")
local schema = require("tpcc.schema")

local format = string.format
local uniform = sysbench.rand.uniform

-- A row of stock has the supplier s_w_id * s_i_id modulo this number.
local SUPPLIERS = 10000

local tables = {
  { "region", "r_regionkey INTEGER NOT NULL, r_name CHAR(25) NOT NULL, r_comment CHAR(80) NOT NULL, PRIMARY KEY (r_regionkey)" },
  { "nation", "n_nationkey INTEGER NOT NULL, n_name CHAR(25) NOT NULL, n_regionkey INTEGER NOT NULL,"
    .. " n_comment CHAR(80) NOT NULL, PRIMARY KEY (n_nationkey)" },
  { "supplier", "su_suppkey INTEGER NOT NULL, su_name CHAR(25) NOT NULL, su_address VARCHAR(40) NOT NULL,"
    .. " su_nationkey INTEGER NOT NULL, su_phone CHAR(15) NOT NULL, su_acctbal DECIMAL(12,2) NOT NULL,"
    .. " su_comment CHAR(100) NOT NULL, PRIMARY KEY (su_suppkey)" },
}

-- Regions with their nations: 62, one for each letter and digit with which the state of a customer can begin.
local regions = {
  { "Africa", "Algeria Angola Cameroon Chad Egypt Ethiopia Ghana Kenya Libya Mali Morocco Nigeria" },
  { "America", "Argentina Bolivia Brazil Canada Chile Colombia Cuba Ecuador Mexico Panama Peru Uruguay" },
  { "Asia", "Cambodia China India Indonesia Iran Iraq Japan Jordan Laos Malaysia Nepal Thailand Vietnam" },
  { "Oceania", "Australia Fiji Kiribati Nauru Palau Samoa Tonga Tuvalu Vanuatu" },
  { "Europe", "Austria Belgium Croatia Denmark Finland France Germany Greece Hungary Iceland Ireland Italy Norway Poland"
    .. " Portugal Spain" },
}
local FIRST_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

local function insert(con, target, rows)
  con:bulk_insert_init("INSERT INTO " .. target .. " VALUES")
  for _, row in ipairs(rows) do
    con:bulk_insert_next(row)
  end
  con:bulk_insert_done()
end

-- The rows of regions and of nations. The key of a nation is the number of its letter.
local function geography()
  local region_rows, nation_rows = {}, {}
  for key, region in ipairs(regions) do
    region_rows[key] = format("(%d, '%s', '%s')", key, region[1], random.a_string(20, 60))
    for name in region[2]:gmatch("%a+") do
      local letter = FIRST_LETTERS:byte(#nation_rows + 1)
      nation_rows[#nation_rows + 1] = format("(%d, '%s', %d, '%s')", letter, name, key, random.a_string(20, 60))
    end
  end
  return region_rows, nation_rows
end

-- Of 100 suppliers, one has bad reviews, which query 16 leaves out.
local function suppliers()
  local rows = {}
  for key = 0, SUPPLIERS - 1 do
    local nation = FIRST_LETTERS:byte(uniform(1, #FIRST_LETTERS))
    local comment = random.a_string(20, 60) .. (random.chance(1) and " bad reviews" or "")
    rows[#rows + 1] = format("(%d, 'Supplier#%09d', '%s', %d, '%s', %.2f, '%s')", key, key, random.a_string(10, 40), nation,
      random.n_string(15), uniform(-99999, 999999) / 100, comment)
  end
  return rows
end

local function add_tables(con, dialect, set)
  print("ch set " .. set .. ": adding suppliers, nations and regions, and analyzing")
  for _, definition in ipairs(tables) do
    con:query(fill(format("CREATE TABLE %s# (%s) /*! ENGINE = %s */", definition[1], definition[2],
      sysbench.opt.mysql_storage_engine), set, dialect))
  end
  local region_rows, nation_rows = geography()
  insert(con, "region" .. set, region_rows)
  insert(con, "nation" .. set, nation_rows)
  insert(con, "supplier" .. set, suppliers())
  schema.analyze(con, dialect, set)
  for _, definition in ipairs(tables) do
    con:query(format(dialect.settle, definition[1] .. set))
  end
end

local function prepare()
  load.prepare_then(add_tables)
end

local function cleanup()
  local con = sysbench.sql.driver():connect()
  for set = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
    for at = #tables, 1, -1 do
      con:query("DROP TABLE IF EXISTS " .. tables[at][1] .. set)
    end
  end
  con:disconnect()
  load.cleanup()
end

return { prepare = prepare, cleanup = cleanup, SUPPLIERS = SUPPLIERS }
