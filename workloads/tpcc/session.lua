-- A connection of the TPC-C-like workloads.

local LEVELS = { RC = "READ COMMITTED", RR = "REPEATABLE READ", SER = "SERIALIZABLE" }

local function set_up(con, dialect)
  local level = LEVELS[sysbench.opt.trx_level]
    or error("trx_level is one of RC, RR and SER, not " .. sysbench.opt.trx_level, 0)
  if dialect.set_isolation then
    con:query(string.format(dialect.set_isolation, level))
  end
  if dialect.enforce_foreign_keys and sysbench.opt.use_fk == 1 then
    con:query(dialect.enforce_foreign_keys)
  end
end

-- Refuses a scale larger than the prepared one.
local function check_scale(con)
  for set = 1, sysbench.opt.tables do
    local warehouses = tonumber((con:query_row("SELECT COUNT(*) FROM warehouse" .. set)))
    if warehouses < sysbench.opt.scale then
      error(string.format("tpcc set %d was prepared with --scale=%d: run it with no more than that, not %d",
        set, warehouses, sysbench.opt.scale), 0)
    end
  end
end

-- Opens a connection. One thread checks the scale for all.
local function open(driver, dialect)
  local con = driver:connect()
  set_up(con, dialect)
  if sysbench.tid == 0 then
    check_scale(con)
  end
  return con
end

return { open = open }
