-- The options of the OLTP scripts.

local STRING = sysbench.cmdline.ARG_STRING

sysbench.cmdline.options = {
  tables = { "How many tables", 1 },
  table_size = { "Rows in each table", 10000 },
  range_size = { "Rows that a range query spans", 100 },
  point_selects = { "Selects by primary key in a transaction", 10 },
  range_selects = { "Whether transactions have range queries at all", true },
  simple_ranges = { "Plain range queries in a transaction", 1 },
  sum_ranges = { "SUM() range queries in a transaction", 1 },
  order_ranges = { "ORDER BY range queries in a transaction", 1 },
  distinct_ranges = { "DISTINCT range queries in a transaction", 1 },
  index_updates = { "Updates of the indexed column in a transaction", 1 },
  non_index_updates = { "Updates of a column without index in a transaction", 1 },
  delete_inserts = { "Rows deleted and inserted again in a transaction", 1 },
  skip_trx = { "No BEGIN and COMMIT: each statement is its own transaction", false },
  read_only = { "Transactions of reads begin with START TRANSACTION READ ONLY", false },
  auto_inc = { "The database generates ids", true },
  secondary = { "Index id by an ordinary key, without a primary key", false },
  create_secondary = { "Index k", true },
  filler_bytes = { "Bytes of a further column, which makes rows large and pages many; 0: none", 0 },
  create_table_options = { "Words to add to CREATE TABLE", "", STRING },
  reconnect = { "Reconnect after this many events of a thread; 0: never", 0 },
  mysql_storage_engine = { "Storage engine of the tables, on MySQL", "innodb" },
  pgsql_variant = { "The kind of PostgreSQL; 'redshift' leaves out secondary indexes and delete_inserts", nil, STRING },
}

-- Disables options that the PostgreSQL variant does not support. The options are only known once a command
-- runs.
function adapt_options_to_variant()
  if sysbench.opt.pgsql_variant == "redshift" then
    sysbench.opt.create_secondary = false
    sysbench.opt.delete_inserts = 0
  end
end
