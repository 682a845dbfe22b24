-- The consistency conditions of clause 3.3.2. Queries count the rows that violate them.

local dialect_of = require("sql.dialect").of
local fill = require("tpcc.template").fill

-- Amounts that differ by less than this are equal, because some databases add them as floating-point numbers.
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

-- Sources of rows. Each has the conditions that its rows can violate: number, statement, what is counted, and
-- the SQL of a violation. A source is read once for all of its conditions. `weight` is its approximate
-- reading time, as a multiple of the lightest.
local sources = {
  { weight = 1,
    from = "warehouse# LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS ytd FROM district# GROUP BY d_w_id) d ON d_w_id = w_id",
    { 1, "W_YTD = sum(D_YTD)", "warehouses", "ABS(w_ytd - COALESCE(ytd, 0)) > " .. TOLERANCE } },
  { weight = 2,
    from = "district# LEFT JOIN " .. ORDERS_OF_DISTRICT .. " ON o_w_id = d_w_id AND o_d_id = d_id"
      .. " LEFT JOIN " .. NEW_ORDERS_OF_DISTRICT .. " ON no_w_id = d_w_id AND no_d_id = d_id",
    { 2, "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)", "districts",
      "d_next_o_id - 1 <> COALESCE(newest, 0) OR d_next_o_id - 1 <> COALESCE(newest_new, d_next_o_id - 1)" } },
  { weight = 1,
    from = NEW_ORDERS_OF_DISTRICT,
    { 3, "max(NO_O_ID) - min(NO_O_ID) + 1 = new orders of the district", "districts",
      "newest_new - oldest_new + 1 <> new_orders" } },
  { weight = 14,
    from = "district# LEFT JOIN " .. ORDERS_OF_DISTRICT .. " ON o_w_id = d_w_id AND o_d_id = d_id"
      .. " LEFT JOIN " .. LINES_OF_DISTRICT .. " ON ol_w_id = d_w_id AND ol_d_id = d_id",
    { 4, "sum(O_OL_CNT) = order lines of the district", "districts",
      "COALESCE(line_count, 0) <> COALESCE(order_lines, 0)" } },
  { weight = 20,
    from = "orders# LEFT JOIN new_orders# ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id",
    { 5, "O_CARRIER_ID is null exactly for the new orders", "orders",
      "(o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)" } },
  { weight = 36,
    from = "orders# LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS order_lines FROM order_line#"
      .. " GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id",
    { 6, "O_OL_CNT = order lines of the order", "orders", "o_ol_cnt <> COALESCE(order_lines, 0)" } },
  { weight = 20,
    from = "order_line# LEFT JOIN orders# ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id",
    { 7, "OL_DELIVERY_D is null exactly where O_CARRIER_ID is", "order lines",
      "o_id IS NULL OR (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)" } },
  { weight = 2,
    from = "warehouse# LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history# GROUP BY h_w_id) h ON h_w_id = w_id",
    { 8, "W_YTD = sum(H_AMOUNT)", "warehouses", "ABS(w_ytd - COALESCE(paid, 0)) > " .. TOLERANCE } },
  { weight = 2,
    from = "district# LEFT JOIN " .. PAID_IN_DISTRICT .. " ON h_w_id = d_w_id AND h_d_id = d_id",
    { 9, "D_YTD = sum(H_AMOUNT)", "districts", "ABS(d_ytd - COALESCE(paid, 0)) > " .. TOLERANCE } },
  -- The specification's form of the condition omits deliveries and holds only for a new database.
  { weight = 5, broken_by_purge = true,
    from = "(SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS deliveries FROM customer# GROUP BY c_w_id, c_d_id) c"
      .. " LEFT JOIN " .. ORDERS_OF_DISTRICT .. " ON o_w_id = c_w_id AND o_d_id = c_d_id"
      .. " LEFT JOIN " .. NEW_ORDERS_OF_DISTRICT .. " ON no_w_id = c_w_id AND no_d_id = c_d_id",
    { 11, "orders - new orders = 2100 + deliveries", "districts",
      "COALESCE(orders, 0) - COALESCE(new_orders, 0) <> 2100 + deliveries" } },
  { weight = 60, broken_by_purge = true,
    from = "customer# LEFT JOIN " .. DELIVERED_TO_CUSTOMER
      .. " ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"
      .. " LEFT JOIN " .. PAID_BY_CUSTOMER .. " ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id",
    { 10, "C_BALANCE = sum(OL_AMOUNT) delivered - sum(H_AMOUNT)", "customers",
      "ABS(c_balance - COALESCE(delivered, 0) + COALESCE(paid, 0)) > " .. TOLERANCE },
    { 12, "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) delivered", "customers",
      "ABS(c_balance + c_ytd_payment - COALESCE(delivered, 0)) > " .. TOLERANCE } },
}

-- Numbers of rows of a source that violate its conditions.
local function violations(con, dialect, set, source)
  local counts = {}
  for at, condition in ipairs(source) do
    -- Without rows, SUM is NULL.
    counts[at] = "COALESCE(SUM(CASE WHEN " .. condition[4] .. " THEN 1 ELSE 0 END), 0)"
  end
  local query = "SELECT " .. table.concat(counts, ", ") .. " FROM " .. source.from
  return { con:query_row(fill(query, set, dialect)) }
end

-- Prints whether the conditions of a source hold, and adds a description of each violation to `failures`.
local function check_source(con, dialect, set, source, failures)
  local is_checked = not (source.broken_by_purge and sysbench.opt.enable_purge == "yes")
  local counts = is_checked and violations(con, dialect, set, source)
  for at, condition in ipairs(source) do
    local number, says, of = condition[1], condition[2], condition[3]
    local title = string.format("tpcc set %d, condition 3.3.2.%d: %s", set, number, says)
    if not is_checked then
      print(title .. ": not checked, since purged orders are part of it")
    elseif tonumber(counts[at]) == 0 then
      print(title .. ": holds")
    else
      local extent = of .. " that violate it: " .. counts[at]
      print(title .. ": VIOLATED; " .. extent)
      failures[#failures + 1] = string.format("3.3.2.%d in set %d, %s", number, set, extent)
    end
  end
end

-- The sources that this thread reads. The heaviest come first; each goes to the thread with the least work.
local function own_sources()
  local heaviest_first = { unpack(sources) }
  table.sort(heaviest_first, function(a, b)
    -- Equal weights have the same order on every thread.
    return a.weight > b.weight or a.weight == b.weight and a[1][1] < b[1][1]
  end)
  local loads, owners = {}, {}
  for thread = 0, sysbench.opt.threads - 1 do
    loads[thread] = 0
  end
  for _, source in ipairs(heaviest_first) do
    local least = 0
    for thread = 1, sysbench.opt.threads - 1 do
      if loads[thread] < loads[least] then
        least = thread
      end
    end
    loads[least], owners[source] = loads[least] + source.weight, least
  end
  local own = {}
  for _, source in ipairs(sources) do
    if owners[source] == sysbench.tid then
      own[#own + 1] = source
    end
  end
  return own
end

-- Checks all conditions in all sets. Threads share the work; an error names the violations that this thread
-- found.
local function check()
  local driver = sysbench.sql.driver()
  local dialect, con = dialect_of(driver), driver:connect()
  local failures = {}
  for set = 1, sysbench.opt.tables do
    for _, source in ipairs(own_sources()) do
      check_source(con, dialect, set, source, failures)
    end
  end
  con:disconnect()
  if #failures > 0 then
    error("violated consistency conditions: " .. table.concat(failures, "; "), 0)
  end
end

return check
