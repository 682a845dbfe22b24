-- TPC-C by stored procedures, on the tables of tpcc: a call is a transaction. With procedures=off, the same mix of transactions is sent
-- statement by statement.

require("tpcc.options")
sysbench.cmdline.options.procedures = { "Call stored procedures; off sends the statements", true }

local calls = require("tprocc.calls")
local check = require("tpcc.check")
local dialect_of = require("sql.dialect").of
local load = require("tpcc.prepare")
local mixes = require("tpcc.mix")
local nopm = require("tpcc.nopm")
local session = require("tpcc.session")

local uniform = sysbench.rand.uniform

-- The first thread makes the procedures, which need no tables yet.
local function prepare()
  if sysbench.opt.procedures and sysbench.tid % sysbench.opt.threads == 0 then
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

function init()
  nopm.begin()
end

function done()
  nopm.tell("tprocc")
end

local con, dialect, mix

function thread_init()
  local driver = sysbench.sql.driver()
  dialect = dialect_of(driver)
  con = session.open(driver, dialect)
  if sysbench.opt.procedures then
    mix = mixes.of(function(name) return calls.call(name, calls.of(driver)) end)
  else
    mix = mixes.of_statements(dialect)
  end
end

-- The kind of the transaction, until it has succeeded: a repeated one keeps its kind, so that the mix stays as it is asked for.
local kind

function event()
  kind = kind or uniform(1, #mix)
  mix[kind](con, uniform(1, sysbench.opt.tables), uniform(1, sysbench.opt.scale))
  kind = nil
end

function thread_done()
  con:disconnect()
end

-- The event runs again with other values, so the first attempt is rolled back.
function sysbench.hooks.before_restart_event()
  if dialect.undo_failed then
    con:query(dialect.undo_failed)
  end
end
