-- The eight tables, as clause 1.4 of the specification defines them, and the way they are filled.

local dialect_of = require("sql.dialect").of

-- Each table comes after the tables that it refers to. Indexes are on foreign keys. Ports of the benchmark to
-- open databases have used these names of indexes since OSDL's DBT-3.
local tables = {
  { name = "region", key = "r_regionkey",
    columns = "r_regionkey INTEGER NOT NULL, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152)" },
  { name = "nation", key = "n_nationkey",
    columns = "n_nationkey INTEGER NOT NULL, n_name CHAR(25) NOT NULL, n_regionkey INTEGER NOT NULL,"
      .. " n_comment VARCHAR(152)",
    indexes = { i_n_regionkey = "n_regionkey" } },
  { name = "part", key = "p_partkey",
    columns = "p_partkey INTEGER NOT NULL, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL,"
      .. " p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INTEGER NOT NULL,"
      .. " p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL, p_comment VARCHAR(23) NOT NULL" },
  { name = "supplier", key = "s_suppkey",
    columns = "s_suppkey INTEGER NOT NULL, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL,"
      .. " s_nationkey INTEGER NOT NULL, s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL,"
      .. " s_comment VARCHAR(101) NOT NULL",
    indexes = { i_s_nationkey = "s_nationkey" } },
  { name = "partsupp", key = "ps_partkey, ps_suppkey",
    columns = "ps_partkey INTEGER NOT NULL, ps_suppkey INTEGER NOT NULL, ps_availqty INTEGER NOT NULL,"
      .. " ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL",
    indexes = { i_ps_suppkey = "ps_suppkey" } },
  { name = "customer", key = "c_custkey",
    columns = "c_custkey INTEGER NOT NULL, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL,"
      .. " c_nationkey INTEGER NOT NULL, c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL,"
      .. " c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL",
    indexes = { i_c_nationkey = "c_nationkey" } },
  { name = "orders", key = "o_orderkey",
    columns = "o_orderkey INTEGER NOT NULL, o_custkey INTEGER NOT NULL, o_orderstatus CHAR(1) NOT NULL,"
      .. " o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL,"
      .. " o_clerk CHAR(15) NOT NULL, o_shippriority INTEGER NOT NULL, o_comment VARCHAR(79) NOT NULL",
    indexes = { i_o_custkey = "o_custkey" } },
  { name = "lineitem", key = "l_orderkey, l_linenumber",
    columns = "l_orderkey INTEGER NOT NULL, l_partkey INTEGER NOT NULL, l_suppkey INTEGER NOT NULL,"
      .. " l_linenumber INTEGER NOT NULL, l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL,"
      .. " l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL,"
      .. " l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL,"
      .. " l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL,"
      .. " l_comment VARCHAR(44) NOT NULL",
    indexes = { i_l_suppkey_partkey = "l_partkey, l_suppkey", i_l_suppkey = "l_suppkey" } },
}

-- The index for the study of index condition pushdown.
local ICP_INDEX = { i_l_partkey = "l_partkey, l_quantity, l_shipmode, l_shipinstruct" }

local function create(con, definition)
  con:query(string.format("CREATE TABLE %s (%s, PRIMARY KEY (%s)) /*! ENGINE = %s */", definition.name,
    definition.columns, definition.key, sysbench.opt.mysql_storage_engine))
end

-- Fills a table. The transaction keeps SQLite from flushing the file after each statement.
local function fill(con, driver, definition)
  local in_one = driver:name() == "sqlite"
  if in_one then
    con:query("BEGIN IMMEDIATE")
  end
  require("dyno.tpch").insert(con, definition.name, sysbench.opt.scale_factor)
  if in_one then
    con:query("COMMIT")
  end
end

local function add_indexes(con, definition, indexes)
  local names = {}
  for name in pairs(indexes or {}) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    con:query(string.format("CREATE INDEX %s ON %s (%s)", name, definition.name, indexes[name]))
  end
end

local function prepare()
  local driver = sysbench.sql.driver()
  local con = driver:connect()
  for _, definition in ipairs(tables) do
    print("tpch: loading " .. definition.name)
    create(con, definition)
    fill(con, driver, definition)
    add_indexes(con, definition, definition.indexes)
    if definition.name == "lineitem" and sysbench.opt.icp_index then
      add_indexes(con, definition, ICP_INDEX)
    end
    con:query(string.format(dialect_of(driver).settle, definition.name))
  end
  con:disconnect()
end

local function cleanup()
  local con = sysbench.sql.driver():connect()
  for i = #tables, 1, -1 do
    con:query("DROP TABLE IF EXISTS " .. tables[i].name)
  end
  con:disconnect()
end

return { prepare = prepare, cleanup = cleanup }
