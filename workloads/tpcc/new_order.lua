-- The new-order transaction (clause 2.4).

local random = require("tpcc.random")
local template = require("tpcc.template")

local format = string.format
local uniform = sysbench.rand.uniform

local UNUSED_ITEM = 100001

local templates = {
  begin = "{begin_write}",
  customer = "SELECT c_discount, c_last, c_credit, w_tax FROM customer#, warehouse#"
    .. " WHERE w_id = %d AND c_w_id = w_id AND c_d_id = %d AND c_id = %d",
  district = "SELECT d_next_o_id, d_tax FROM district# WHERE d_w_id = %d AND d_id = %d{for_update}",
  next_order = "UPDATE district# SET d_next_o_id = %d WHERE d_w_id = %d AND d_id = %d",
  order = "INSERT INTO orders# (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)"
    .. " VALUES (%d, %d, %d, %d, CURRENT_TIMESTAMP, %d, %d)",
  new_order = "INSERT INTO new_orders# (no_o_id, no_d_id, no_w_id) VALUES (%d, %d, %d)",
  item = "SELECT i_price, i_name, i_data FROM item# WHERE i_id = %d",
  stock = "SELECT s_quantity, s_data, s_dist_%02d FROM stock# WHERE s_i_id = %d AND s_w_id = %d{for_update}",
  take_stock = "UPDATE stock# SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1,"
    .. " s_remote_cnt = s_remote_cnt + %d WHERE s_i_id = %d AND s_w_id = %d",
  line = "INSERT INTO order_line# (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity,"
    .. " ol_amount, ol_dist_info) VALUES (%d, %d, %d, %d, %d, %d, %d, %.2f, '%s')",
}

local statements

-- The lines of the current order: item, supplying warehouse and quantity.
local items, suppliers, quantities = {}, {}, {}

-- Draws the lines (clause 2.4.1.5). Returns their count and whether all items are from this warehouse, as 1
-- or 0.
local function draw_lines(w_id)
  local count, all_local = uniform(5, 15), 1
  for number = 1, count do
    items[number] = random.item()
    suppliers[number] = random.chance(1) and random.other_warehouse(w_id) or w_id
    quantities[number] = uniform(1, 10)
    if suppliers[number] ~= w_id then
      all_local = 0
    end
  end
  -- A wrong item number, which makes the transaction roll back (clause 2.4.1.4).
  if random.chance(1) then
    items[count] = UNUSED_ITEM
  end
  return count, all_local
end

-- Takes an item from a warehouse's stock and returns the stock's district information. If less than 10 would
-- be left, 91 are added (clause 2.4.2.2).
local function take_stock(con, sql, number, w_id, d_id)
  local item, supplier, quantity = items[number], suppliers[number], quantities[number]
  local in_stock, _, district_info = con:query_row(format(sql.stock, d_id, item, supplier))
  local left = tonumber(in_stock) - quantity
  if left < 10 then
    left = left + 91
  end
  con:query(format(sql.take_stock, left, quantity, supplier == w_id and 0 or 1, item, supplier))
  return district_info
end

-- Adds a line to the order. Returns false if the item does not exist.
local function add_line(con, sql, number, w_id, d_id, o_id)
  local price = con:query_row(format(sql.item, items[number]))
  if not price then
    return false
  end
  local district_info = take_stock(con, sql, number, w_id, d_id)
  local amount = quantities[number] * tonumber(price)
  con:query(format(sql.line, o_id, d_id, w_id, number, items[number], suppliers[number], quantities[number],
    amount, district_info))
  return true
end

local function run(con, set, w_id)
  local sql = statements[set]
  local d_id, c_id = uniform(1, 10), random.customer()
  local count, all_local = draw_lines(w_id)
  con:query(sql.begin)
  con:query(format(sql.customer, w_id, d_id, c_id))
  local o_id = tonumber((con:query_row(format(sql.district, w_id, d_id))))
  con:query(format(sql.next_order, o_id + 1, w_id, d_id))
  con:query(format(sql.order, o_id, d_id, w_id, c_id, count, all_local))
  con:query(format(sql.new_order, o_id, d_id, w_id))
  for number = 1, count do
    if not add_line(con, sql, number, w_id, d_id, o_id) then
      con:query("ROLLBACK")
      return
    end
  end
  con:query("COMMIT")
end

local function init(dialect)
  statements = template.fill_all(templates, dialect)
end

return { init = init, run = run }
