-- The options of the TPC-H workload.

local STRING = sysbench.cmdline.ARG_STRING

sysbench.cmdline.options = {
  scale_factor = { "Size of the tables: 1 is 6 million rows of lineitem, about 1 GB of text", 1.0 },
  query = { "Query that an event runs: 1 to 22, or icp (query 19 with other parameters)", "1" },
  force_index = { "Index of lineitem that queries 19 and icp have to use (not PostgreSQL)", "", STRING },
  icp_index = { "An index of lineitem on part, quantity, mode and instructions", false },
  mysql_storage_engine = { "Storage engine of the tables, on MySQL", "innodb" },
}
