-- The consistency conditions of clause 3.3.2. Each query counts what violates its condition.

local dialect_of = require("sql.dialect").of
local fill = require("tpcc.template").fill

-- Amounts that differ by less than this are equal; it covers a database that sums them as floating point numbers.
local TOLERANCE = "0.005"

local ORDERS_OF_DISTRICT = "(SELECT o_w_id, o_d_id, COUNT(*) AS orders, MAX(o_id) AS newest,"
  .. " SUM(o_ol_cnt) AS line_count FROM orders# GROUP BY o_w_id, o_d_id) o"
local NEW_ORDERS_OF_DISTRICT = "(SELECT no_w_id, no_d_id, COUNT(*) AS new_orders, MIN(no_o_id) AS oldest_new,"
  .. " MAX(no_o_id) AS newest_new FROM new_orders# GROUP BY no_w_id, no_d_id) n"
local LINES_OF_DISTRICT = "(SELECT ol_w_id, ol_d_id, COUNT(*) AS order_lines"
  .. " FROM order_line# GROUP BY ol_w_id, ol_d_id) l"
local PAID_IN_DISTRICT = "(SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history# GROUP BY h_w_id, h_d_id) h"
local PAID_BY_CUSTOMER = "(SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history#"
  .. " GROUP BY h_c_w_id, h_c_d_id, h_c_id) h"
local DELIVERED_TO_CUSTOMER = "(SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders#"
  .. " JOIN order_line# ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id"
  .. " WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o"

local conditions = {
  { "W_YTD = sum(D_YTD)", "warehouses",
    "FROM warehouse# LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS ytd FROM district# GROUP BY d_w_id) d ON d_w_id = w_id"
      .. " WHERE ABS(w_ytd - COALESCE(ytd, 0)) > " .. TOLERANCE },
  { "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)", "districts",
    "FROM district# LEFT JOIN " .. ORDERS_OF_DISTRICT .. " ON o_w_id = d_w_id AND o_d_id = d_id"
      .. " LEFT JOIN " .. NEW_ORDERS_OF_DISTRICT .. " ON no_w_id = d_w_id AND no_d_id = d_id"
      .. " WHERE d_next_o_id - 1 <> COALESCE(newest, 0) OR d_next_o_id - 1 <> COALESCE(newest_new, d_next_o_id - 1)" },
  { "max(NO_O_ID) - min(NO_O_ID) + 1 = new orders of the district", "districts",
    "FROM " .. NEW_ORDERS_OF_DISTRICT .. " WHERE newest_new - oldest_new + 1 <> new_orders" },
  { "sum(O_OL_CNT) = order lines of the district", "districts",
    "FROM district# LEFT JOIN " .. ORDERS_OF_DISTRICT .. " ON o_w_id = d_w_id AND o_d_id = d_id"
      .. " LEFT JOIN " .. LINES_OF_DISTRICT .. " ON ol_w_id = d_w_id AND ol_d_id = d_id"
      .. " WHERE COALESCE(line_count, 0) <> COALESCE(order_lines, 0)" },
  { "O_CARRIER_ID is null exactly for the new orders", "orders",
    "FROM orders# LEFT JOIN new_orders# ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id"
      .. " WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)" },
  { "O_OL_CNT = order lines of the order", "orders",
    "FROM orders# LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS order_lines FROM order_line#"
      .. " GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id"
      .. " WHERE o_ol_cnt <> COALESCE(order_lines, 0)" },
  { "OL_DELIVERY_D is null exactly where O_CARRIER_ID is", "order lines",
    "FROM order_line# LEFT JOIN orders# ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id"
      .. " WHERE o_id IS NULL OR (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)" },
  { "W_YTD = sum(H_AMOUNT)", "warehouses",
    "FROM warehouse# LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history# GROUP BY h_w_id) h"
      .. " ON h_w_id = w_id WHERE ABS(w_ytd - COALESCE(paid, 0)) > " .. TOLERANCE },
  { "D_YTD = sum(H_AMOUNT)", "districts",
    "FROM district# LEFT JOIN " .. PAID_IN_DISTRICT .. " ON h_w_id = d_w_id AND h_d_id = d_id"
      .. " WHERE ABS(d_ytd - COALESCE(paid, 0)) > " .. TOLERANCE },
  { "C_BALANCE = sum(OL_AMOUNT) delivered - sum(H_AMOUNT)", "customers",
    "FROM customer# LEFT JOIN " .. DELIVERED_TO_CUSTOMER .. " ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"
      .. " LEFT JOIN " .. PAID_BY_CUSTOMER .. " ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id"
      .. " WHERE ABS(c_balance - COALESCE(delivered, 0) + COALESCE(paid, 0)) > " .. TOLERANCE,
    broken_by_purge = true },
  -- As the specification writes it, without deliveries, it holds only for a new database.
  { "orders - new orders = 2100 + deliveries", "districts",
    "FROM (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS deliveries FROM customer# GROUP BY c_w_id, c_d_id) c"
      .. " LEFT JOIN " .. ORDERS_OF_DISTRICT .. " ON o_w_id = c_w_id AND o_d_id = c_d_id"
      .. " LEFT JOIN " .. NEW_ORDERS_OF_DISTRICT .. " ON no_w_id = c_w_id AND no_d_id = c_d_id"
      .. " WHERE COALESCE(orders, 0) - COALESCE(new_orders, 0) <> 2100 + deliveries",
    broken_by_purge = true },
  { "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) delivered", "customers",
    "FROM customer# LEFT JOIN " .. DELIVERED_TO_CUSTOMER .. " ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"
      .. " WHERE ABS(c_balance + c_ytd_payment - COALESCE(delivered, 0)) > " .. TOLERANCE,
    broken_by_purge = true },
}

-- Prints whether the condition holds; returns a description of its violation, or nil.
local function check_condition(con, dialect, set, number, condition)
  local title = string.format("tpcc set %d, condition 3.3.2.%d: %s", set, number, condition[1])
  if condition.broken_by_purge and sysbench.opt.enable_purge == "yes" then
    print(title .. ": not checked, since purged orders are part of it")
    return nil
  end
  local violations = tonumber((con:query_row(fill("SELECT COUNT(*) " .. condition[3], set, dialect))))
  if violations == 0 then
    print(title .. ": holds")
    return nil
  end
  local extent = condition[2] .. " that violate it: " .. violations
  print(title .. ": VIOLATED; " .. extent)
  return string.format("3.3.2.%d in set %d, %s", number, set, extent)
end

-- Checks all conditions in all sets; an error names those that do not hold.
local function check()
  local driver = sysbench.sql.driver()
  local dialect, con = dialect_of(driver), driver:connect()
  local failures = {}
  for set = 1, sysbench.opt.tables do
    for number, condition in ipairs(conditions) do
      failures[#failures + 1] = check_condition(con, dialect, set, number, condition)
    end
  end
  con:disconnect()
  if #failures > 0 then
    error("violated consistency conditions: " .. table.concat(failures, "; "), 0)
  end
end

return check
