-- The text of a query for a driver.

local texts = require("tpch.texts")

local queries = {}

-- The differences between the databases, by the names of sysbench's drivers: `year_of(x)` is the year of a
-- date; `exact(x)` is a sum that is compared with an equal sum, which SQLite computes in floating point;
-- `forced` is the index that lineitem must use, which PostgreSQL does not support.
local WRITES = {
  mysql = { year_of = "EXTRACT(YEAR FROM %s)", exact = "%s", forced = " FORCE INDEX (%s)" },
  pgsql = { year_of = "EXTRACT(YEAR FROM %s)", exact = "%s" },
  sqlite = { year_of = "CAST(STRFTIME('%%Y', %s) AS INTEGER)", exact = "ROUND(%s, 2)", forced = " INDEXED BY %s" },
}

local function inside(parentheses)
  return parentheses:sub(2, -2)
end

function queries.text(driver)
  local name, opt = driver:name(), sysbench.opt
  local text, writes = texts[opt.query], WRITES[name]
  if not text then
    error("query is one of 1 to 22 and icp, not " .. opt.query, 0)
  end
  local forced = writes.forced and opt.force_index ~= "" and writes.forced:format(opt.force_index) or ""
  text = text:gsub("year_of(%b())", function(it) return writes.year_of:format(inside(it)) end)
  text = text:gsub("exact(%b())", function(it) return writes.exact:format(inside(it)) end)
  text = text:gsub("{forced}", forced)
  -- Clause 2.4.11.3: the fraction of query 11 depends on the scale.
  text = text:gsub("{fraction}", string.format("%.10f", 0.0001 / opt.scale_factor))
  return text
end

return queries
