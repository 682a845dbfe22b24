-- The tables and transactions of the TPC-C specification (revision 5.11), without its terminals. An event is one
-- transaction on a random warehouse; there are no keying and thinking times.

require("tpcc.options")

local check = require("tpcc.check")
local dialect_of = require("sql.dialect").of
local load = require("tpcc.prepare")

local uniform = sysbench.rand.uniform

sysbench.cmdline.commands = {
  prepare = { load.prepare, sysbench.cmdline.PARALLEL_COMMAND },
  cleanup = { load.cleanup, sysbench.cmdline.PARALLEL_COMMAND },
  check = { check, sysbench.cmdline.PARALLEL_COMMAND },
}

local LEVELS = { RC = "READ COMMITTED", RR = "REPEATABLE READ", SER = "SERIALIZABLE" }

local con, dialect
-- Contains each transaction as often as its share. An event picks one at random.
local mix = {}

local function add_to_mix(name, share)
  local transaction = require("tpcc." .. name)
  transaction.init(dialect)
  for _ = 1, share do
    mix[#mix + 1] = transaction.run
  end
end

local function set_session()
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
local function check_scale()
  for set = 1, sysbench.opt.tables do
    local warehouses = tonumber((con:query_row("SELECT COUNT(*) FROM warehouse" .. set)))
    if warehouses < sysbench.opt.scale then
      error(string.format("tpcc set %d was prepared with --scale=%d: run it with no more than that, not %d",
        set, warehouses, sysbench.opt.scale), 0)
    end
  end
end

function thread_init()
  local driver = sysbench.sql.driver()
  con, dialect = driver:connect(), dialect_of(driver)
  set_session()
  -- One thread checks for all.
  if sysbench.tid == 0 then
    check_scale()
  end
  add_to_mix("new_order", 10)
  add_to_mix("payment", 10)
  add_to_mix("order_status", 1)
  add_to_mix("delivery", 1)
  add_to_mix("stock_level", 1)
  if sysbench.opt.enable_purge == "yes" then
    add_to_mix("purge", 1)
  end
end

function event()
  mix[uniform(1, #mix)](con, uniform(1, sysbench.opt.tables), uniform(1, sysbench.opt.scale))
end

function thread_done()
  con:disconnect()
end

-- The event runs again with new values, so the first attempt is rolled back.
function sysbench.hooks.before_restart_event()
  if dialect.undo_failed then
    con:query(dialect.undo_failed)
  end
end
