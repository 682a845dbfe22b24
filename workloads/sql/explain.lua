-- The server's plan for a statement, as lines that two versions of a server print in the same way. Estimates
-- are in square brackets.

local explainers = {}

-- The columns of MySQL's EXPLAIN, by their count.
local MYSQL_COLUMNS = {
  [10] = { "id", "kind", "table", "type", "keys", "key", "key_bytes", "ref", "rows", "extra" },
  [11] = { "id", "kind", "table", "type", "keys", "key", "key_bytes", "ref", "rows", "filtered", "extra" },
  [12] = { "id", "kind", "table", "partitions", "type", "keys", "key", "key_bytes", "ref", "rows", "filtered", "extra" },
}

local function mysql_line(row)
  local line = string.format("%s %s %s: %s", row.id or "-", row.kind or "-", row.table or "-", row.type or "-")
  if row.key then
    line = line .. string.format(", %s, %s bytes of the key", row.key, row.key_bytes or "0")
  end
  if row.ref then
    line = line .. " = " .. row.ref
  end
  if row.extra and row.extra ~= "" then
    line = line .. "; " .. row.extra
  end
  return row.rows and string.format("%s [%s rows]", line, row.rows) or line
end

function explainers.mysql(con, sql)
  -- Version 5.5 has no other format, and later servers may use another by default.
  local version = con:query_row("SELECT VERSION()")
  local format = version:find("^5%.[0-5]%.") and "EXPLAIN " or "EXPLAIN FORMAT=TRADITIONAL "
  local result = con:query(format .. sql)
  local names, lines = MYSQL_COLUMNS[result.nfields], {}
  if not names then
    error("EXPLAIN has " .. result.nfields .. " columns, which sql/explain.lua does not know", 0)
  end
  for i = 1, result.nrows do
    local values, row = result:fetch_row(), {}
    for column, name in ipairs(names) do
      row[name] = values[column]
    end
    lines[i] = mysql_line(row)
  end
  return lines
end

function explainers.pgsql(con, sql)
  local result, lines = con:query("EXPLAIN " .. sql), {}
  for i = 1, result.nrows do
    lines[i] = result:fetch_row()[1]:gsub("%(cost=%S+ rows=(%d+) width=%d+%)", "[%1 rows]")
  end
  return lines
end

-- Rows are the nodes of a tree: number, number of the parent, nothing, text.
function explainers.sqlite(con, sql)
  local result, depth, lines = con:query("EXPLAIN QUERY PLAN " .. sql), {}, {}
  for i = 1, result.nrows do
    local row = result:fetch_row()
    depth[row[1]] = (depth[row[2]] or -1) + 1
    lines[i] = string.rep("  ", depth[row[1]]) .. row[4]
  end
  return lines
end

local function lines(driver, con, sql)
  return explainers[driver:name()](con, sql)
end

-- Why the server refused a statement, on one line.
local function reason(con, raised)
  local text = tostring(raised)
  if con.sql_errno ~= 0 or con.sql_errmsg ~= "" then
    text = string.format("error %d: %s", con.sql_errno, con.sql_errmsg)
  end
  return (text:gsub("%s+", " "))
end

-- Whether the line is a node of a plan. The other lines of PostgreSQL contain values, which differ between
-- executions.
local function is_shown(driver, line)
  return driver:name() ~= "pgsql" or line:find("%[%d+ rows%]")
end

local counters = {}

-- Rows that the server has read for this connection.
local function rows_so_far(con)
  local result, rows = con:query("SHOW SESSION STATUS LIKE 'Handler_read%'"), 0
  for _ = 1, result.nrows do
    rows = rows + tonumber(result:fetch_row()[2])
  end
  return rows
end

-- Rows that the server reads for a query. To ask for the number may read rows too, as many each time.
function counters.mysql(con, sql)
  local first = rows_so_far(con)
  local before = rows_so_far(con)
  con:query(sql)
  return rows_so_far(con) - before - (before - first)
end

-- Whether the line of a plan reads a table. The rows of a bitmap of an index are those of the node above it.
local function is_scan(line)
  return not line:find("Bitmap Index Scan", 1, true)
    and (line:find("Seq Scan on ", 1, true) or line:find("Index Scan ", 1, true)
      or line:find("Index Only Scan ", 1, true) or line:find("Bitmap Heap Scan on ", 1, true))
end

-- Rows that nodes return and rows that they drop, each time that they run.
function counters.pgsql(con, sql)
  local result, rows, loops = con:query("EXPLAIN (ANALYZE, TIMING OFF) " .. sql), 0, 0
  for _ = 1, result.nrows do
    local line = result:fetch_row()[1]
    local returned, times = line:match("%(actual rows=(%S+) loops=(%d+)%)")
    if line:find("(cost=", 1, true) then
      loops = times and is_scan(line) and tonumber(times) or 0
    end
    local dropped = line:match("Rows Removed by Filter: (%d+)") or line:match("Rows Removed by Index Recheck: (%d+)")
    rows = rows + loops * (tonumber(returned or dropped) or 0)
  end
  return rows
end

-- Prints the rows that the server reads for each query. Other statements would change rows.
local function count(driver, con, statements)
  local counter = counters[driver:name()]
  for number, sql in ipairs(statements) do
    if counter and sql:upper():find("^[%s(]*SELECT%W") then
      local is_counted, rows = pcall(counter, con, sql)
      if is_counted then
        print(string.format("rows\t%d\t%.0f", number, rows))
      end
    end
  end
end

-- Prints the plan of each statement, or why there is none. Each line starts with the statement's number. With `is_counted`, also
-- the rows that queries read.
local function each(statements, is_counted)
  local driver = sysbench.sql.driver()
  local con = driver:connect()
  for number, sql in ipairs(statements) do
    local is_explained, found = pcall(lines, driver, con, sql)
    if is_explained then
      print("plan\t" .. number)
      for _, line in ipairs(found) do
        if is_shown(driver, line) then
          print("line\t" .. number .. "\t" .. line)
        end
      end
    else
      print("refused\t" .. number .. "\t" .. reason(con, found))
    end
  end
  if is_counted then
    count(driver, con, statements)
  end
  con:disconnect()
end

return { lines = lines, each = each }
