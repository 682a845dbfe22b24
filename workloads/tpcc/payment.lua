-- The payment transaction (clause 2.5).

local customer = require("tpcc.customer")
local random = require("tpcc.random")
local template = require("tpcc.template")

local format = string.format
local uniform = sysbench.rand.uniform

local templates = {
  begin = "{begin_write}",
  pay_warehouse = "UPDATE warehouse# SET w_ytd = w_ytd + %.2f WHERE w_id = %d",
  warehouse = "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse# WHERE w_id = %d",
  pay_district = "UPDATE district# SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d",
  district = "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district#"
    .. " WHERE d_w_id = %d AND d_id = %d",
  by_last_name = customer.BY_LAST_NAME,
  customer = "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,"
    .. " c_since, c_credit_lim, c_discount, c_balance FROM customer#"
    .. " WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d{for_update}",
  data = "SELECT c_data FROM customer# WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
  pay = "UPDATE customer# SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f,"
    .. " c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
  set_data = "UPDATE customer# SET c_data = '%s' WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
  history = "INSERT INTO history# (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)"
    .. " VALUES (%d, %d, %d, %d, %d, CURRENT_TIMESTAMP, %.2f, '%s    %s')",
}

local statements

-- The customer's district. In 15 of 100 cases it belongs to another warehouse (clause 2.5.1.2).
local function draw_customer_district(w_id, d_id)
  if random.chance(85) then
    return w_id, d_id
  end
  return random.other_warehouse(w_id), uniform(1, 10)
end

-- Records the payment of a customer with bad credit at the front of the customer's data, which is cut to 500
-- characters (clause 2.5.2.2).
local function note_payment(con, sql, c_w_id, c_d_id, c_id, w_id, d_id, amount)
  local data = con:query_row(format(sql.data, c_w_id, c_d_id, c_id))
  local note = format("%d %d %d %d %d %.2f | ", c_id, c_d_id, c_w_id, d_id, w_id, amount)
  con:query(format(sql.set_data, (note .. data):sub(1, 500), c_w_id, c_d_id, c_id))
end

local function pay_customer(con, sql, c_w_id, c_d_id, c_id, w_id, d_id, amount)
  local credit = con:query_row(format(sql.customer, c_w_id, c_d_id, c_id))
  con:query(format(sql.pay, amount, amount, c_w_id, c_d_id, c_id))
  if credit == "BC" then
    note_payment(con, sql, c_w_id, c_d_id, c_id, w_id, d_id, amount)
  end
end

local function run(con, set, w_id)
  local sql = statements[set]
  local d_id = uniform(1, 10)
  local c_w_id, c_d_id = draw_customer_district(w_id, d_id)
  local amount = uniform(100, 500000) / 100
  con:query(sql.begin)
  con:query(format(sql.pay_warehouse, amount, w_id))
  local w_name = con:query_row(format(sql.warehouse, w_id))
  con:query(format(sql.pay_district, amount, w_id, d_id))
  local d_name = con:query_row(format(sql.district, w_id, d_id))
  local c_id = customer.choose(con, sql.by_last_name, c_w_id, c_d_id)
  pay_customer(con, sql, c_w_id, c_d_id, c_id, w_id, d_id, amount)
  con:query(format(sql.history, c_id, c_d_id, c_w_id, d_id, w_id, amount, w_name, d_name))
  con:query("COMMIT")
end

local function init(dialect)
  statements = template.fill_all(templates, dialect)
end

return { init = init, run = run }
