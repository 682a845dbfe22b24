-- The options of the TPC-C-like workload.

local STRING = sysbench.cmdline.ARG_STRING

sysbench.cmdline.options = {
  scale = { "Warehouses in each set of tables", 100 },
  tables = { "Sets of the nine tables", 1 },
  use_fk = { "Foreign keys: 1 or 0", 1 },
  force_pk = { "A primary key for the history table too: 1 or 0", 0 },
  trx_level = { "Isolation of transactions: RC, RR or SER", "RR" },
  enable_purge = { "A sixth transaction, which deletes old orders: yes or no", "no" },
  load_time = { "Date and time of the rows that prepare makes: now, or one such as 2026-01-31 12:00:00", "now", STRING },
  text_repeated = { "Percent of each random text that is the same in all rows, so that it compresses", 0 },
  mysql_storage_engine = { "Storage engine of the tables, on MySQL", "innodb" },
  mysql_table_options = { "Words to add to CREATE TABLE, on MySQL", "", STRING },
}
