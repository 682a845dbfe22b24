-- The texts of the queries for a driver, by number.

local texts = require("ch.texts")
local fill = require("tpcc.template").fill
local tables = require("ch.tables")
local written = require("sql.functions").written

-- Parts that queries have in common, as {name}.
local words = {
  by_customer = "c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id",
  of_order = "ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id",
  in_stock = "s_w_id = ol_supply_w_id AND s_i_id = ol_i_id",
  supplied = "(s_w_id * s_i_id) % " .. tables.SUPPLIERS .. " = su_suppkey",
  suppkey = "(s_w_id * s_i_id) % " .. tables.SUPPLIERS,
}

local queries = { COUNT = #texts }

-- The text of a query on a set of tables.
function queries.text(number, set, driver)
  return fill(written(texts[number], driver), set, words)
end

-- The numbers that the option `query` means.
function queries.wanted()
  local wanted = sysbench.opt.query
  if wanted ~= 0 then
    return texts[wanted] and { wanted } or error("query is 0 or one of 1 to " .. #texts .. ", not " .. wanted, 0)
  end
  local all = {}
  for number = 1, #texts do
    all[number] = number
  end
  return all
end

return queries
