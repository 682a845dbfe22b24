-- The 22 queries of CH-benCHmark, as "The mixed workload CH-benCHmark" (Cole and others, DBTest 2011) describes them: each asks of the
-- tables of TPC-C what the query of TPC-H with its number asks of TPC-H's. If an order leaves ties, keys break them, so that answers can
-- be compared. sql/functions.lua has the functions that databases write differently, ch/queries.lua the words in braces.

local texts = {}

-- Amounts and quantities of lines by their number.
texts[1] = [[
SELECT ol_number, SUM(ol_quantity) AS sum_qty, SUM(ol_amount) AS sum_amount, AVG(ol_quantity) AS avg_qty,
       AVG(ol_amount) AS avg_amount, COUNT(*) AS count_order
FROM order_line#
WHERE ol_delivery_d > '2007-01-02 00:00:00'
GROUP BY ol_number
ORDER BY ol_number]]

-- European suppliers with the lowest stock of an item.
texts[2] = [[
SELECT su_suppkey, su_name, n_name, i_id, i_name, su_address, su_phone, su_comment
FROM item#, supplier#, stock#, nation#, region#, (
  SELECT s_i_id AS lowest_i_id, MIN(s_quantity) AS lowest_quantity
  FROM stock#, supplier#, nation#, region#
  WHERE {supplied} AND su_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name LIKE 'Europ%'
  GROUP BY s_i_id) lowest
WHERE i_id = s_i_id AND {supplied} AND su_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND like(i_data, '%b') AND r_name LIKE 'Europ%' AND i_id = lowest_i_id AND s_quantity = lowest_quantity
ORDER BY n_name, su_suppkey, i_id]]

-- Open orders of the highest value.
texts[3] = [[
SELECT ol_o_id, ol_w_id, ol_d_id, SUM(ol_amount) AS revenue, o_entry_d
FROM customer#, new_orders#, orders#, order_line#
WHERE like(c_state, 'A%') AND {by_customer} AND no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
  AND {of_order} AND o_entry_d > '2007-01-02 00:00:00'
GROUP BY ol_o_id, ol_w_id, ol_d_id, o_entry_d
ORDER BY exact(SUM(ol_amount)) DESC, o_entry_d, ol_w_id, ol_d_id, ol_o_id]]

-- Orders with a delivered line, by their number of lines.
texts[4] = [[
SELECT o_ol_cnt, COUNT(*) AS order_count
FROM orders#
WHERE o_entry_d >= '2007-01-02 00:00:00' AND o_entry_d < '2040-01-02 00:00:00'
  AND EXISTS (SELECT * FROM order_line# WHERE {of_order} AND ol_delivery_d >= o_entry_d)
GROUP BY o_ol_cnt
ORDER BY o_ol_cnt]]

-- Revenue in Europe where supplier and customer are of one nation.
texts[5] = [[
SELECT n_name, SUM(ol_amount) AS revenue
FROM customer#, orders#, order_line#, stock#, supplier#, nation#, region#
WHERE {by_customer} AND {of_order} AND {in_stock} AND {supplied} AND code_of(c_state) = su_nationkey
  AND su_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'Europe'
  AND o_entry_d >= '2007-01-02 00:00:00'
GROUP BY n_name
ORDER BY exact(SUM(ol_amount)) DESC, n_name]]

-- Revenue of delivered lines.
texts[6] = [[
SELECT SUM(ol_amount) AS revenue
FROM order_line#
WHERE ol_delivery_d >= '1999-01-01 00:00:00' AND ol_delivery_d < '2040-01-01 00:00:00'
  AND ol_quantity BETWEEN 1 AND 100000]]

-- Trade between two nations by year.
texts[7] = [[
SELECT supp_nation, cust_nation, l_year, SUM(amount) AS revenue
FROM (
  SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, year_of(o_entry_d) AS l_year, ol_amount AS amount
  FROM supplier#, stock#, order_line#, orders#, customer#, nation# n1, nation# n2
  WHERE {in_stock} AND {supplied} AND {of_order} AND {by_customer} AND su_nationkey = n1.n_nationkey
    AND code_of(c_state) = n2.n_nationkey
    AND ((n1.n_name = 'Germany' AND n2.n_name = 'Cambodia') OR (n1.n_name = 'Cambodia' AND n2.n_name = 'Germany'))
    AND ol_delivery_d BETWEEN '2007-01-02 00:00:00' AND '2040-01-02 00:00:00') shipping
GROUP BY supp_nation, cust_nation, l_year
ORDER BY supp_nation, cust_nation, l_year]]

-- The share of one nation's suppliers in what European customers buy of some items.
texts[8] = [[
SELECT l_year, SUM(CASE WHEN supp_nation = 'Germany' THEN amount ELSE 0 END) / NULLIF(SUM(amount), 0) AS mkt_share
FROM (
  SELECT year_of(o_entry_d) AS l_year, ol_amount AS amount, n2.n_name AS supp_nation
  FROM item#, supplier#, stock#, order_line#, orders#, customer#, nation# n1, nation# n2, region#
  WHERE i_id = ol_i_id AND {in_stock} AND {supplied} AND {of_order} AND {by_customer}
    AND code_of(c_state) = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'Europe'
    AND su_nationkey = n2.n_nationkey AND like(i_data, '%b')
    AND o_entry_d BETWEEN '2007-01-02 00:00:00' AND '2040-01-02 00:00:00') european
GROUP BY l_year
ORDER BY l_year]]

-- Profit on some items by the supplier's nation and year.
texts[9] = [[
SELECT n_name, l_year, SUM(amount) AS sum_profit
FROM (
  SELECT n_name, year_of(o_entry_d) AS l_year, ol_amount AS amount
  FROM item#, stock#, supplier#, order_line#, orders#, nation#
  WHERE i_id = ol_i_id AND {in_stock} AND {supplied} AND {of_order} AND su_nationkey = n_nationkey
    AND like(i_data, '%BB')) profit
GROUP BY n_name, l_year
ORDER BY n_name, l_year DESC]]

-- Customers by the value of their delivered orders.
texts[10] = [[
SELECT c_w_id, c_d_id, c_id, c_last, SUM(ol_amount) AS revenue, c_city, c_phone, n_name
FROM customer#, orders#, order_line#, nation#
WHERE {by_customer} AND {of_order} AND o_entry_d >= '2007-01-02 00:00:00' AND o_entry_d <= ol_delivery_d
  AND code_of(c_state) = n_nationkey
GROUP BY c_w_id, c_d_id, c_id, c_last, c_city, c_phone, n_name
ORDER BY exact(SUM(ol_amount)) DESC, c_w_id, c_d_id, c_id]]

-- Items of one nation's suppliers that make up much of what is ordered there.
texts[11] = [[
SELECT s_i_id, SUM(s_order_cnt) AS ordercount
FROM stock#, supplier#, nation#
WHERE {supplied} AND su_nationkey = n_nationkey AND n_name = 'Germany'
GROUP BY s_i_id
HAVING SUM(s_order_cnt) > (
  SELECT SUM(s_order_cnt) * 0.0005
  FROM stock#, supplier#, nation#
  WHERE {supplied} AND su_nationkey = n_nationkey AND n_name = 'Germany')
ORDER BY ordercount DESC, s_i_id]]

-- Lines by the carrier's priority.
texts[12] = [[
SELECT o_ol_cnt, SUM(CASE WHEN o_carrier_id = 1 OR o_carrier_id = 2 THEN 1 ELSE 0 END) AS high_line_count,
       SUM(CASE WHEN o_carrier_id <> 1 AND o_carrier_id <> 2 THEN 1 ELSE 0 END) AS low_line_count
FROM orders#, order_line#
WHERE {of_order} AND o_entry_d <= ol_delivery_d AND ol_delivery_d < '2040-01-01 00:00:00'
GROUP BY o_ol_cnt
ORDER BY o_ol_cnt]]

-- Customers by their number of orders with some carriers.
texts[13] = [[
SELECT c_count, COUNT(*) AS custdist
FROM (
  SELECT c_w_id, c_d_id, c_id, COUNT(o_id) AS c_count
  FROM customer# LEFT OUTER JOIN orders# ON ({by_customer} AND o_carrier_id > 8)
  GROUP BY c_w_id, c_d_id, c_id) c_orders
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC]]

-- The percentage of promoted items in the revenue.
texts[14] = [[
SELECT 100.00 * SUM(CASE WHEN like(i_data, 'PR%') THEN ol_amount ELSE 0 END) / (1 + SUM(ol_amount)) AS promo_revenue
FROM order_line#, item#
WHERE ol_i_id = i_id AND ol_delivery_d >= '2007-01-02 00:00:00' AND ol_delivery_d < '2040-01-02 00:00:00']]

-- The suppliers with the highest revenue.
texts[15] = [[
SELECT su_suppkey, su_name, su_address, su_phone, total_revenue
FROM supplier#, (
  SELECT {suppkey} AS supplier_no, exact(SUM(ol_amount)) AS total_revenue
  FROM order_line#, stock#
  WHERE {in_stock} AND ol_delivery_d >= '2007-01-02 00:00:00'
  GROUP BY {suppkey}) revenue
WHERE su_suppkey = supplier_no
  AND total_revenue = (
    SELECT MAX(supplier_revenue)
    FROM (
      SELECT exact(SUM(ol_amount)) AS supplier_revenue
      FROM order_line#, stock#
      WHERE {in_stock} AND ol_delivery_d >= '2007-01-02 00:00:00'
      GROUP BY {suppkey}) revenues)
ORDER BY su_suppkey]]

-- Items by their number of suppliers without bad reviews.
texts[16] = [[
SELECT i_name, SUBSTR(i_data, 1, 3) AS brand, i_price, COUNT(DISTINCT {suppkey}) AS supplier_cnt
FROM stock#, item#
WHERE i_id = s_i_id AND NOT like(i_data, 'zz%')
  AND {suppkey} NOT IN (SELECT su_suppkey FROM supplier# WHERE like(su_comment, '%bad%'))
GROUP BY i_name, SUBSTR(i_data, 1, 3), i_price
ORDER BY supplier_cnt DESC, MIN(i_id)]]

-- The yearly revenue that small orders of some items make.
texts[17] = [[
SELECT SUM(ol_amount) / 2.0 AS avg_yearly
FROM order_line#, (
  SELECT i_id AS small_i_id, AVG(ol_quantity) AS small_quantity
  FROM item#, order_line#
  WHERE like(i_data, '%b') AND ol_i_id = i_id
  GROUP BY i_id) small
WHERE ol_i_id = small_i_id AND ol_quantity < small_quantity]]

-- Customers with large orders.
texts[18] = [[
SELECT c_last, c_id, o_id, o_entry_d, o_ol_cnt, SUM(ol_amount) AS order_amount
FROM customer#, orders#, order_line#
WHERE {by_customer} AND {of_order}
GROUP BY o_w_id, o_d_id, o_id, c_id, c_last, o_entry_d, o_ol_cnt
HAVING SUM(ol_amount) > 200
ORDER BY exact(SUM(ol_amount)) DESC, o_entry_d, o_w_id, o_d_id, o_id]]

-- Revenue of three kinds of items, each from some warehouses.
texts[19] = [[
SELECT SUM(ol_amount) AS revenue
FROM order_line#, item#
WHERE ol_i_id = i_id AND ol_quantity BETWEEN 1 AND 10 AND i_price BETWEEN 1 AND 400000
  AND ((like(i_data, '%a') AND ol_w_id IN (1, 2, 3))
    OR (like(i_data, '%b') AND ol_w_id IN (1, 2, 4))
    OR (like(i_data, '%c') AND ol_w_id IN (1, 5, 3)))]]

-- Suppliers of one nation with much stock of some items.
texts[20] = [[
SELECT su_name, su_address
FROM supplier#, nation#, (
  SELECT DISTINCT {suppkey} AS supplier_no
  FROM (
    SELECT s_w_id, s_i_id
    FROM item#, stock#, order_line#
    WHERE i_id = s_i_id AND like(i_data, 'c%') AND {in_stock} AND ol_delivery_d > '2010-05-23 12:00:00'
    GROUP BY s_w_id, s_i_id, s_quantity
    HAVING 2 * s_quantity > SUM(ol_quantity)) plenty) suppliers
WHERE su_suppkey = supplier_no AND su_nationkey = n_nationkey AND n_name = 'Germany'
ORDER BY su_name]]

-- Suppliers of one nation that delivered the last line of an order late.
texts[21] = [[
SELECT su_name, COUNT(*) AS numwait
FROM supplier#, order_line# l1, orders#, stock#, nation#
WHERE l1.ol_w_id = o_w_id AND l1.ol_d_id = o_d_id AND l1.ol_o_id = o_id
  AND s_w_id = l1.ol_supply_w_id AND s_i_id = l1.ol_i_id AND {supplied} AND l1.ol_delivery_d > o_entry_d
  AND NOT EXISTS (
    SELECT * FROM order_line# l2
    WHERE l2.ol_w_id = l1.ol_w_id AND l2.ol_d_id = l1.ol_d_id AND l2.ol_o_id = l1.ol_o_id
      AND l2.ol_delivery_d > l1.ol_delivery_d)
  AND su_nationkey = n_nationkey AND n_name = 'Germany'
GROUP BY su_name
ORDER BY numwait DESC, su_name]]

-- Customers without orders and with a balance above the average, by their nation's letter.
texts[22] = [[
SELECT code_of(c_state) AS country, COUNT(*) AS numcust, SUM(c_balance) AS totacctbal
FROM customer#
WHERE SUBSTR(c_phone, 1, 1) IN ('1', '2', '3', '4', '5', '6', '7')
  AND c_balance > (
    SELECT AVG(c_balance) FROM customer#
    WHERE c_balance > 0.00 AND SUBSTR(c_phone, 1, 1) IN ('1', '2', '3', '4', '5', '6', '7'))
  AND NOT EXISTS (SELECT * FROM orders# WHERE {by_customer})
GROUP BY code_of(c_state)
ORDER BY country]]

return texts
