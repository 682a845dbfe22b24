-- Statements with an IN list of values of one column.

local INT = { sysbench.sql.type.INT }

-- A list of parameters: (?, ?, ?).
local function list(count)
  return "(" .. string.rep("?", count, ", ") .. ")"
end

-- The types of its parameters.
local function types(count)
  local all = {}
  for i = 1, count do
    all[i] = INT
  end
  return unpack(all)
end

return { list = list, types = types }
