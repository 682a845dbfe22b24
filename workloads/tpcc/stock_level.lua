-- The stock-level transaction (clause 2.8): counts the items of a district's last 20 orders that are low in
-- stock.

local template = require("tpcc.template")

local format = string.format
local uniform = sysbench.rand.uniform

local templates = {
  next_order = "SELECT d_next_o_id FROM district# WHERE d_w_id = %d AND d_id = %d",
  low_stock = "SELECT COUNT(DISTINCT s_i_id) FROM order_line#, stock#"
    .. " WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d AND ol_o_id >= %d"
    .. " AND s_w_id = %d AND s_i_id = ol_i_id AND s_quantity < %d",
}

local statements

local function run(con, set, w_id)
  local sql = statements[set]
  local d_id, threshold = uniform(1, 10), uniform(10, 20)
  con:query("BEGIN")
  local next_order = tonumber((con:query_row(format(sql.next_order, w_id, d_id))))
  con:query(format(sql.low_stock, w_id, d_id, next_order, next_order - 20, w_id, threshold))
  con:query("COMMIT")
end

local function init(dialect)
  statements = template.fill_all(templates, dialect)
end

return { init = init, run = run }
