-- The differences between the SQL of the databases, by the names of sysbench's drivers.

local dialects = {}

dialects.mysql = {
  generated_id = "INTEGER NOT NULL AUTO_INCREMENT",
  -- The value that an INSERT gives for the generated column.
  next_id = "0",
  -- A generated column must have a key. If that is not the primary key, it is made together with the table.
  keys_made_with_table = true,
  tinyint = "TINYINT",
  datetime = "DATETIME",
  begin_write = "BEGIN",
  -- MySQL 5.6 or later, MariaDB 10.0 or later.
  begin_read_only = "START TRANSACTION READ ONLY",
  -- Here only some errors end a transaction. The drivers of the other databases roll back after any error.
  undo_failed = "ROLLBACK",
  for_update = " FOR UPDATE",
  foreign_keys_added_later = true,
  analyze = "ANALYZE TABLE %s",
  settle = "ANALYZE TABLE %s",
  find_table = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '%s'",
  set_isolation = "SET SESSION TRANSACTION ISOLATION LEVEL %s",
  -- Otherwise InnoDB copies a table to add a foreign key, only to check rows that are known to be correct.
  prepare_load = "SET SESSION foreign_key_checks = 0",
}

dialects.pgsql = {
  generated_id = "SERIAL",
  tinyint = "SMALLINT",
  datetime = "TIMESTAMP",
  begin_write = "BEGIN",
  begin_read_only = "START TRANSACTION READ ONLY",
  for_update = " FOR UPDATE",
  foreign_keys_added_later = true,
  analyze = "ANALYZE %s",
  -- After a load: rows that all transactions see are marked too.
  settle = "VACUUM ANALYZE %s",
  -- Otherwise large values go to a separate table, which updates of other columns do not touch.
  keep_in_row = "ALTER TABLE %s ALTER COLUMN %s SET STORAGE PLAIN",
  find_table = "SELECT COUNT(*) FROM information_schema.tables"
    .. " WHERE table_schema = current_schema() AND table_name = '%s'",
  set_isolation = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL %s",
}

dialects.redshift = setmetatable({ generated_id = "INTEGER IDENTITY(1,1)" }, { __index = dialects.pgsql })

dialects.sqlite = {
  -- A single INTEGER primary key is the row id, which SQLite generates.
  generated_id = "INTEGER NOT NULL",
  only_primary_keys_generated = true,
  tinyint = "SMALLINT",
  datetime = "DATETIME",
  -- SQLite refuses the first write of a transaction that has read before, if another transaction wrote in
  -- between.
  begin_write = "BEGIN IMMEDIATE",
  for_update = "",
  analyze = "ANALYZE %s",
  settle = "ANALYZE %s",
  find_table = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '%s'",
  prepare_load = "PRAGMA foreign_keys = OFF",
  enforce_foreign_keys = "PRAGMA foreign_keys = ON",
}

-- The dialect of the database of a driver.
local function of(driver)
  local name = driver:name()
  if name == "pgsql" and sysbench.opt.pgsql_variant == "redshift" then
    name = "redshift"
  end
  return dialects[name] or error("these workloads know mysql, pgsql and sqlite, not the driver " .. name, 0)
end

return { of = of }
