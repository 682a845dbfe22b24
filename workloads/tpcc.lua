-- The tables and transactions of the TPC-C specification (revision 5.11), without its terminals. An event is one
-- transaction on a random warehouse; there are no keying and thinking times.

require("tpcc.options")

local check = require("tpcc.check")
local dialect_of = require("sql.dialect").of
local load = require("tpcc.prepare")
local session = require("tpcc.session")

local uniform = sysbench.rand.uniform

sysbench.cmdline.commands = {
  prepare = { load.prepare, sysbench.cmdline.PARALLEL_COMMAND },
  cleanup = { load.cleanup, sysbench.cmdline.PARALLEL_COMMAND },
  check = { check, sysbench.cmdline.PARALLEL_COMMAND },
}

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

function thread_init()
  local driver = sysbench.sql.driver()
  dialect = dialect_of(driver)
  con = session.open(driver, dialect)
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
