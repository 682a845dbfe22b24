-- The tables and the 22 queries of the TPC-H specification (revision 3). An event is one query, which the
-- option `query` chooses. Dyno itself generates the rows, so `prepare` does not run under sysbench; the other
-- commands do.

require("tpch.options")

local explain = require("sql.explain").lines
local queries = require("tpch.queries")
local tables = require("tpch.tables")

local con, sql

local function connect()
  local driver = sysbench.sql.driver()
  return driver:connect(), driver
end

-- Prints the rows of the answer, one per line, with bars between values. Trailing spaces are removed, because
-- they are padding of CHAR.
local function answer()
  local connection, driver = connect()
  local result = connection:query(queries.text(driver))
  local columns = result.nfields
  for _ = 1, result.nrows do
    local row, values = result:fetch_row(), {}
    for i = 1, columns do
      values[i] = row[i] and row[i]:gsub(" +$", "") or "NULL"
    end
    print(table.concat(values, "|"))
  end
  connection:disconnect()
end

-- Prints the statement, then the server's plan for it, line by line.
local function explain_query()
  local connection, driver = connect()
  local text = queries.text(driver)
  print(text)
  for _, line in ipairs(explain(driver, connection, text)) do
    print(line)
  end
  connection:disconnect()
end

sysbench.cmdline.commands = {
  prepare = { tables.prepare },
  cleanup = { tables.cleanup },
  answer = { answer },
  explain = { explain_query },
}

function thread_init()
  local driver
  con, driver = connect()
  sql = queries.text(driver)
end

function event()
  con:query(sql)
end

function thread_done()
  con:disconnect()
end
