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

-- Prints the plan of each statement, or why there is none. Each line starts with the statement's number.
local function each(statements)
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
  con:disconnect()
end

return { lines = lines, each = each }
