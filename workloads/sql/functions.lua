-- Functions in the texts of queries that databases write differently:
-- year_of(date); exact(sum), a sum that is compared with equal sums, which SQLite computes in floating point; code_of(text), the number
-- of its first letter; like(text, 'pattern'), which distinguishes upper and lower case.

local writes = {}

writes.mysql = {
  year_of = "EXTRACT(YEAR FROM %s)", exact = "%s", code_of = "ASCII(%s)", like = "CAST(%s AS BINARY) LIKE %s",
}

writes.pgsql = { year_of = "EXTRACT(YEAR FROM %s)", exact = "%s", code_of = "ASCII(%s)", like = "%s LIKE %s" }

writes.sqlite = {
  year_of = "CAST(STRFTIME('%%Y', %s) AS INTEGER)", exact = "ROUND(%s, 2)", code_of = "UNICODE(%s)", like = "%s GLOB %s",
  -- What stands for any text in a pattern.
  any = "*",
}

local function inside(parentheses)
  return parentheses:sub(2, -2)
end

-- A text with its functions written for a driver's database.
local function written(text, driver)
  local own = writes[driver:name()]
  for _, name in ipairs({ "year_of", "exact", "code_of" }) do
    text = text:gsub(name .. "(%b())", function(it) return own[name]:format(inside(it)) end)
  end
  text = text:gsub("like(%b())", function(it)
    local subject, pattern = inside(it):match("^(.-), ('.-')$")
    return own.like:format(subject, own.any and pattern:gsub("%%", own.any) or pattern)
  end)
  return text
end

return { written = written }
