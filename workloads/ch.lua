-- CH-benCHmark: the transactions of TPC-C, and 22 analytic queries on the same tables. An event is one or the other, as the option
-- `action` says. In a plan, a step has the one and its background load the other.

require("tpcc.options")
local options = sysbench.cmdline.options
options.action = { "An event: query or transaction", "query" }
options.query = { "Query that an event runs: 1 to 22; 0 runs them all in turn, each client in an order of its own", 0 }
-- The same rows in every load, so that answers can be compared.
options.load_time[2] = "2026-01-01 00:00:00"

local check = require("tpcc.check")
local commands_of = require("sql.shown").commands
local dialect_of = require("sql.dialect").of
local mixes = require("tpcc.mix")
local nopm = require("tpcc.nopm")
local queries = require("ch.queries")
local random = require("tpcc.random")
local session = require("tpcc.session")
local tables = require("ch.tables")

local uniform = sysbench.rand.uniform

local commands = commands_of(function(driver)
  local texts = {}
  for at, number in ipairs(queries.wanted()) do
    texts[at] = { number, queries.text(number, 1, driver) }
  end
  return texts
end)
commands.prepare = { tables.prepare, sysbench.cmdline.PARALLEL_COMMAND }
commands.cleanup = { tables.cleanup, sysbench.cmdline.PARALLEL_COMMAND }
commands.check = { check, sysbench.cmdline.PARALLEL_COMMAND }
sysbench.cmdline.commands = commands

function init()
  if sysbench.opt.action == "transaction" then
    nopm.begin()
  end
end

function done()
  if sysbench.opt.action == "transaction" then
    nopm.tell("ch")
  end
end

local driver, con, dialect
local act = {}

function act.query()
  local set, wanted, texts = sysbench.tid % sysbench.opt.tables + 1, queries.wanted(), {}
  local order, at = random.permutation(#wanted), 0
  for _, number in ipairs(wanted) do
    texts[number] = queries.text(number, set, driver)
  end
  return function()
    at = at % #order + 1
    con:query(texts[wanted[order[at]]])
  end
end

function act.transaction()
  local mix = mixes.of_statements(dialect)
  -- The kind of the transaction, until it has succeeded, as in tprocc.
  local kind
  return function()
    kind = kind or uniform(1, #mix)
    mix[kind](con, uniform(1, sysbench.opt.tables), uniform(1, sysbench.opt.scale))
    kind = nil
  end
end

function thread_init()
  local action = act[sysbench.opt.action]
    or error("action is query or transaction, not " .. sysbench.opt.action, 0)
  driver = sysbench.sql.driver()
  dialect = dialect_of(driver)
  con = session.open(driver, dialect)
  event = action()
end

-- The action, from thread_init on.
function event()
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
