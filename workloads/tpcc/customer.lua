-- The customer of a transaction: chosen by last name in 60 of 100 cases, otherwise by number (clauses 2.5.1.2
-- and 2.6.1.2).

local random = require("tpcc.random")

local format = string.format
local ceil = math.ceil

local BY_LAST_NAME = "SELECT c_id FROM customer#"
  .. " WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first"

-- Of several customers with one last name, the middle one by first name: position n/2, rounded up (clause
-- 2.5.2.2).
local function middle_of_name(con, by_last_name, w_id, d_id)
  local result = con:query(format(by_last_name, w_id, d_id, random.last_name()))
  local row
  for _ = 1, ceil(tonumber(result.nrows) / 2) do
    row = result:fetch_row()
  end
  return tonumber(row[1])
end

-- The number of a customer of this district. by_last_name is BY_LAST_NAME with its placeholders filled in.
local function choose(con, by_last_name, w_id, d_id)
  if random.chance(60) then
    return middle_of_name(con, by_last_name, w_id, d_id)
  end
  return random.customer()
end

return { BY_LAST_NAME = BY_LAST_NAME, choose = choose }
