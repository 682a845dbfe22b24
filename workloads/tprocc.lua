-- TPC-C by stored procedures, on the tables of tpcc: a call is a transaction. With procedures=off, the same mix of transactions is sent
-- statement by statement.

require("tpcc.options")
sysbench.cmdline.options.procedures = { "Call stored procedures; off sends the statements", true }

local calls = require("tprocc.calls")
local check = require("tpcc.check")
local dialect_of = require("sql.dialect").of
local load = require("tpcc.prepare")
local session = require("tpcc.session")

local uniform = sysbench.rand.uniform

-- The shares of the specification, of 100 (clause 5.2.3).
local MIX = { { "new_order", 45 }, { "payment", 43 }, { "order_status", 4 }, { "delivery", 4 }, { "stock_level", 4 } }

-- The first thread makes the procedures, which need no tables yet.
local function prepare()
  if sysbench.tid % sysbench.opt.threads == 0 then
    calls.create()
  end
  load.prepare()
end

local function cleanup()
  if sysbench.tid % sysbench.opt.threads == 0 then
    calls.drop()
  end
  load.cleanup()
end

sysbench.cmdline.commands = {
  prepare = { prepare, sysbench.cmdline.PARALLEL_COMMAND },
  cleanup = { cleanup, sysbench.cmdline.PARALLEL_COMMAND },
  check = { check, sysbench.cmdline.PARALLEL_COMMAND },
}

ffi.cdef("int clock_gettime(int clock, long *time);")

-- Seconds of a clock that only runs forward.
local function now()
  local time = ffi.new("long[2]")
  ffi.C.clock_gettime(1, time)
  return tonumber(time[0]) + tonumber(time[1]) / 1e9
end

-- Orders that were ever placed, from which NOPM is computed.
local function orders()
  local con, sum = sysbench.sql.driver():connect(), 0
  for set = 1, sysbench.opt.tables do
    sum = sum + tonumber((con:query_row("SELECT SUM(d_next_o_id) FROM district" .. set)))
  end
  con:disconnect()
  return sum
end

local began, orders_before

function init()
  began, orders_before = now(), orders()
end

function done()
  local new_orders, seconds = orders() - orders_before, now() - began
  print(string.format("tprocc: %d new orders in %.1f s, warm-up included: %.0f NOPM", new_orders, seconds,
    60 * new_orders / seconds))
end

local con, dialect
local mix = {}

function thread_init()
  local driver = sysbench.sql.driver()
  dialect = dialect_of(driver)
  con = session.open(driver, dialect)
  for _, part in ipairs(MIX) do
    local name, share, run = part[1], part[2], nil
    if sysbench.opt.procedures then
      run = calls.call(name, calls.of(driver))
    else
      local transaction = require("tpcc." .. name)
      transaction.init(dialect)
      run = transaction.run
    end
    for _ = 1, share do
      mix[#mix + 1] = run
    end
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
