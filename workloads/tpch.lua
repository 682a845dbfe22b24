-- The tables and the 22 queries of the TPC-H specification (revision 3). An event is one query, which the
-- option `query` chooses. Dyno itself generates the rows, so `prepare` does not run under sysbench; the other
-- commands do.

require("tpch.options")

local commands_of = require("sql.shown").commands
local queries = require("tpch.queries")
local tables = require("tpch.tables")

local commands = commands_of(function(driver)
  return { { sysbench.opt.query, queries.text(driver) } }
end)
commands.prepare, commands.cleanup = { tables.prepare }, { tables.cleanup }
sysbench.cmdline.commands = commands

local con, sql

function thread_init()
  local driver = sysbench.sql.driver()
  con, sql = driver:connect(), queries.text(driver)
end

function event()
  con:query(sql)
end

function thread_done()
  con:disconnect()
end
