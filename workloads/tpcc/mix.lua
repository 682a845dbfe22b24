-- The five transactions with the shares of the specification, of 100 (clause 5.2.3).

local SHARES = { { "new_order", 45 }, { "payment", 43 }, { "order_status", 4 }, { "delivery", 4 }, { "stock_level", 4 } }

-- A list of 100 functions. `run_of` gives the function of a transaction by its name.
local function of(run_of)
  local mix = {}
  for _, part in ipairs(SHARES) do
    local name, share = part[1], part[2]
    local run = run_of(name)
    for _ = 1, share do
      mix[#mix + 1] = run
    end
  end
  return mix
end

-- The list whose functions send statements.
local function of_statements(dialect)
  return of(function(name)
    local transaction = require("tpcc." .. name)
    transaction.init(dialect)
    return transaction.run
  end)
end

return { of = of, of_statements = of_statements }
