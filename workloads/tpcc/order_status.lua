-- The order-status transaction (clause 2.6): reads a customer's most recent order.

local customer = require("tpcc.customer")
local template = require("tpcc.template")

local format = string.format
local uniform = sysbench.rand.uniform

local templates = {
  by_last_name = customer.BY_LAST_NAME,
  customer = "SELECT c_balance, c_first, c_middle, c_last FROM customer#"
    .. " WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
  last_order = "SELECT o_id, o_carrier_id, o_entry_d FROM orders#"
    .. " WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d ORDER BY o_id DESC LIMIT 1",
  lines = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line#"
    .. " WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d",
}

local statements

local function run(con, set, w_id)
  local sql = statements[set]
  local d_id = uniform(1, 10)
  con:query("BEGIN")
  local c_id = customer.choose(con, sql.by_last_name, w_id, d_id)
  con:query(format(sql.customer, w_id, d_id, c_id))
  local o_id = con:query_row(format(sql.last_order, w_id, d_id, c_id))
  -- Every customer has an order until a purge deletes it.
  if o_id then
    con:query(format(sql.lines, w_id, d_id, tonumber(o_id)))
  end
  con:query("COMMIT")
end

local function init(dialect)
  statements = template.fill_all(templates, dialect)
end

return { init = init, run = run }
