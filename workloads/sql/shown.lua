-- The commands of workloads whose event is one query: `answer` prints rows, `explain` prints plans.

local explain = require("sql.explain").lines

-- Rows, one per line, with bars between values. Trailing spaces are removed, because they are padding of CHAR.
local function print_answer(con, text)
  local result = con:query(text)
  local columns = result.nfields
  for _ = 1, result.nrows do
    local row, values = result:fetch_row(), {}
    for i = 1, columns do
      values[i] = row[i] and row[i]:gsub(" +$", "") or "NULL"
    end
    print(table.concat(values, "|"))
  end
end

-- The statement, then the server's plan for it, line by line.
local function print_plan(con, text, driver)
  print(text)
  for _, line in ipairs(explain(driver, con, text)) do
    print(line)
  end
end

-- Both commands. `texts_of` gives the texts of the queries for a driver: a list of numbers and texts. Of several, the number stands
-- before each.
local function commands(texts_of)
  local function each(visit)
    return { function()
      local driver = sysbench.sql.driver()
      local con, texts = driver:connect(), texts_of(driver)
      for _, query in ipairs(texts) do
        if #texts > 1 then
          print("# " .. query[1])
        end
        visit(con, query[2], driver)
      end
      con:disconnect()
    end }
  end
  return { answer = each(print_answer), explain = each(print_plan) }
end

return { commands = commands }
