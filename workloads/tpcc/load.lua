-- The rows of a set of tables, as clause 4.3.3.1 of the TPC-C specification defines them.

local random = require("tpcc.random")

local format = string.format
local a_string = random.a_string
local uniform = sysbench.rand.uniform

local ITEMS = 100000
local DISTRICTS = 10
local CUSTOMERS = 3000
local ORDERS = 3000
local FIRST_NEW_ORDER = 2101

-- Inserts the rows row(1), ..., row(count).
local function insert(con, target, count, row)
  con:bulk_insert_init("INSERT INTO " .. target .. " VALUES")
  for i = 1, count do
    con:bulk_insert_next(row(i))
  end
  con:bulk_insert_done()
end

-- Street, street, city, state and zip.
local function address()
  return format("'%s', '%s', '%s', '%s', '%s'",
    a_string(10, 20), a_string(10, 20), a_string(10, 20), a_string(2), random.zip())
end

local function load_items(con, set)
  insert(con, "item" .. set, ITEMS, function(i_id)
    return format("(%d, %d, '%s', %.2f, '%s')",
      i_id, uniform(1, 10000), a_string(14, 24), uniform(100, 10000) / 100, random.data())
  end)
end

local function load_warehouse_row(con, set, w_id)
  insert(con, "warehouse" .. set, 1, function()
    return format("(%d, '%s', %s, %.4f, 300000.00)", w_id, a_string(6, 10), address(), uniform(0, 2000) / 10000)
  end)
end

local function load_stock(con, set, w_id)
  insert(con, "stock" .. set, ITEMS, function(i_id)
    return format("(%d, %d, %d, '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', 0, 0, 0, '%s')",
      i_id, w_id, uniform(10, 100), a_string(24), a_string(24), a_string(24), a_string(24), a_string(24),
      a_string(24), a_string(24), a_string(24), a_string(24), a_string(24), random.data())
  end)
end

local function load_districts(con, set, w_id)
  insert(con, "district" .. set, DISTRICTS, function(d_id)
    return format("(%d, %d, '%s', %s, %.4f, 30000.00, %d)",
      d_id, w_id, a_string(6, 10), address(), uniform(0, 2000) / 10000, ORDERS + 1)
  end)
end

local function load_customers(con, set, w_id, d_id, now)
  insert(con, "customer" .. set, CUSTOMERS, function(c_id)
    local last_name = c_id <= 1000 and random.last_name_of(c_id - 1) or random.last_name_for_load()
    return format("(%d, %d, %d, '%s', 'OE', '%s', %s, '%s', %s, '%s', 50000.00, %.4f, -10.00, 10.00, 1, 0, '%s')",
      c_id, d_id, w_id, a_string(8, 16), last_name, address(), random.n_string(16), now,
      random.chance(10) and "BC" or "GC", uniform(0, 5000) / 10000, a_string(300, 500))
  end)
end

local function load_history(con, set, w_id, d_id, now)
  local target = format("history%d (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)", set)
  insert(con, target, CUSTOMERS, function(c_id)
    return format("(%d, %d, %d, %d, %d, %s, 10.00, '%s')", c_id, d_id, w_id, d_id, w_id, now, a_string(12, 24))
  end)
end

-- Returns the number of lines of each order.
local function load_orders(con, set, w_id, d_id, now)
  local customers = random.permutation(CUSTOMERS)
  local line_counts = {}
  insert(con, "orders" .. set, ORDERS, function(o_id)
    line_counts[o_id] = uniform(5, 15)
    local carrier = o_id < FIRST_NEW_ORDER and uniform(1, 10) or "NULL"
    return format("(%d, %d, %d, %d, %s, %s, %d, 1)",
      o_id, d_id, w_id, customers[o_id], now, carrier, line_counts[o_id])
  end)
  return line_counts
end

local function load_new_orders(con, set, w_id, d_id)
  insert(con, "new_orders" .. set, ORDERS - FIRST_NEW_ORDER + 1, function(i)
    return format("(%d, %d, %d)", FIRST_NEW_ORDER + i - 1, d_id, w_id)
  end)
end

local function load_order_lines(con, set, w_id, d_id, now, line_counts)
  con:bulk_insert_init(format("INSERT INTO order_line%d VALUES", set))
  for o_id = 1, ORDERS do
    local delivered = o_id < FIRST_NEW_ORDER
    for number = 1, line_counts[o_id] do
      local amount = delivered and 0 or uniform(1, 999999) / 100
      con:bulk_insert_next(format("(%d, %d, %d, %d, %d, %d, %s, 5, %.2f, '%s')",
        o_id, d_id, w_id, number, uniform(1, ITEMS), w_id, delivered and now or "NULL", amount, a_string(24)))
    end
  end
  con:bulk_insert_done()
end

-- One warehouse with all rows that belong to it.
local function load_warehouse(con, set, w_id)
  local time = sysbench.opt.load_time
  local now = "'" .. (time == "now" and os.date("%Y-%m-%d %H:%M:%S") or time) .. "'"
  load_warehouse_row(con, set, w_id)
  load_stock(con, set, w_id)
  load_districts(con, set, w_id)
  for d_id = 1, DISTRICTS do
    load_customers(con, set, w_id, d_id, now)
    load_history(con, set, w_id, d_id, now)
    local line_counts = load_orders(con, set, w_id, d_id, now)
    load_new_orders(con, set, w_id, d_id)
    load_order_lines(con, set, w_id, d_id, now, line_counts)
  end
end

return { items = load_items, warehouse = load_warehouse }
