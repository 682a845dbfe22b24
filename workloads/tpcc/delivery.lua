-- The delivery transaction (clause 2.7): delivers the oldest undelivered order of each district of a
-- warehouse.

local template = require("tpcc.template")

local format = string.format
local uniform = sysbench.rand.uniform

local templates = {
  begin = "{begin_write}",
  oldest = "SELECT no_o_id FROM new_orders# WHERE no_w_id = %d AND no_d_id = %d ORDER BY no_o_id LIMIT 1{for_update}",
  take = "DELETE FROM new_orders# WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d",
  customer = "SELECT o_c_id FROM orders# WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d",
  carrier = "UPDATE orders# SET o_carrier_id = %d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d",
  lines = "UPDATE order_line# SET ol_delivery_d = CURRENT_TIMESTAMP"
    .. " WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d",
  amount = "SELECT SUM(ol_amount) FROM order_line# WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d",
  charge = "UPDATE customer# SET c_balance = c_balance + %.2f, c_delivery_cnt = c_delivery_cnt + 1"
    .. " WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
}

local statements

local function deliver(con, sql, w_id, d_id, o_id, carrier)
  con:query(format(sql.take, w_id, d_id, o_id))
  local c_id = tonumber((con:query_row(format(sql.customer, w_id, d_id, o_id))))
  con:query(format(sql.carrier, carrier, w_id, d_id, o_id))
  con:query(format(sql.lines, w_id, d_id, o_id))
  local amount = tonumber((con:query_row(format(sql.amount, w_id, d_id, o_id))))
  con:query(format(sql.charge, amount, w_id, d_id, c_id))
end

local function run(con, set, w_id)
  local sql = statements[set]
  local carrier = uniform(1, 10)
  con:query(sql.begin)
  for d_id = 1, 10 do
    local oldest = con:query_row(format(sql.oldest, w_id, d_id))
    -- A district without an undelivered order is skipped (clause 2.7.4.2).
    if oldest then
      deliver(con, sql, w_id, d_id, tonumber(oldest), carrier)
    end
  end
  con:query("COMMIT")
end

local function init(dialect)
  statements = template.fill_all(templates, dialect)
end

return { init = init, run = run }
