-- SQL with placeholders: '#' is the number of a set of tables, and '{name}' is a word of the dialect.

local function fill(text, set, dialect)
  return (text:gsub("#", set):gsub("{([%w_]+)}", dialect))
end

-- Fills templates for every set of tables: result[set][name].
local function fill_all(templates, dialect)
  local filled = {}
  for set = 1, sysbench.opt.tables do
    filled[set] = {}
    for name, text in pairs(templates) do
      filled[set][name] = fill(text, set, dialect)
    end
  end
  return filled
end

return { fill = fill, fill_all = fill_all }
