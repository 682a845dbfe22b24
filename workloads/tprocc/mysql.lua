-- The transactions of TPC-C as stored procedures of MySQL and MariaDB. '#' is the number of a set of tables.

-- The customer by last name, if the procedure was given one: the middle one by first name (clause 2.5.2.2).
local CUSTOMER_BY_NAME = [[
  IF p_last <> '' THEN
    SELECT COUNT(*) INTO v_count FROM customer# WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last;
    SET v_count = (v_count - 1) DIV 2;
    SELECT c_id INTO v_c FROM customer# WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last
      ORDER BY c_first LIMIT v_count, 1;
  END IF;]]

local procedures = {}

-- An unused item ends the transaction without a trace (clause 2.4.2.3).
procedures.new_order = [[(p_w INTEGER, p_d INTEGER, p_c INTEGER, p_lines INTEGER, p_unused INTEGER, p_warehouses INTEGER)
BEGIN
  DECLARE v_line INTEGER DEFAULT 1;
  DECLARE v_o, v_item, v_supplier, v_quantity, v_stock INTEGER;
  DECLARE v_all_local INTEGER DEFAULT 1;
  DECLARE v_price DECIMAL(5,2);
  DECLARE v_discount, v_w_tax, v_d_tax DECIMAL(4,4);
  DECLARE v_last VARCHAR(16);
  DECLARE v_credit CHAR(2);
  DECLARE v_name VARCHAR(24);
  DECLARE v_data, v_stock_data VARCHAR(50);
  DECLARE v_info CHAR(24);
  DECLARE EXIT HANDLER FOR NOT FOUND ROLLBACK;
  START TRANSACTION;
  SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax FROM customer#, warehouse#
    WHERE w_id = p_w AND c_w_id = w_id AND c_d_id = p_d AND c_id = p_c;
  SELECT d_next_o_id, d_tax INTO v_o, v_d_tax FROM district# WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  UPDATE district# SET d_next_o_id = v_o + 1 WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders# (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (v_o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_lines, 1);
  INSERT INTO new_orders# (no_o_id, no_d_id, no_w_id) VALUES (v_o, p_d, p_w);
  WHILE v_line <= p_lines DO
    SET v_item = ((FLOOR(RAND() * 8192) | FLOOR(1 + RAND() * 100000)) + {item_constant}) % 100000 + 1;
    IF p_unused = 1 AND v_line = p_lines THEN
      SET v_item = 100001;
    END IF;
    SET v_supplier = p_w, v_quantity = FLOOR(1 + RAND() * 10);
    IF p_warehouses > 1 AND RAND() < 0.01 THEN
      SET v_supplier = FLOOR(1 + RAND() * (p_warehouses - 1)), v_all_local = 0;
      IF v_supplier >= p_w THEN
        SET v_supplier = v_supplier + 1;
      END IF;
    END IF;
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_data FROM item# WHERE i_id = v_item;
    SELECT s_quantity, s_data, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
        WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
        WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END INTO v_stock, v_stock_data, v_info
      FROM stock# WHERE s_i_id = v_item AND s_w_id = v_supplier FOR UPDATE;
    SET v_stock = v_stock - v_quantity;
    IF v_stock < 10 THEN
      SET v_stock = v_stock + 91;
    END IF;
    UPDATE stock# SET s_quantity = v_stock, s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + (v_supplier <> p_w) WHERE s_i_id = v_item AND s_w_id = v_supplier;
    INSERT INTO order_line# (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
      ol_dist_info) VALUES (v_o, p_d, p_w, v_line, v_item, v_supplier, v_quantity, v_quantity * v_price, v_info);
    SET v_line = v_line + 1;
  END WHILE;
  IF v_all_local = 0 THEN
    UPDATE orders# SET o_all_local = 0 WHERE o_w_id = p_w AND o_d_id = p_d AND o_id = v_o;
  END IF;
  COMMIT;
END]]

procedures.payment = [[(p_w INTEGER, p_d INTEGER, p_c_w INTEGER, p_c_d INTEGER, p_c INTEGER, p_last VARCHAR(16),
  p_amount DECIMAL(6,2))
BEGIN
  DECLARE v_count INTEGER;
  DECLARE v_c INTEGER DEFAULT p_c;
  DECLARE v_w_name, v_d_name VARCHAR(10);
  DECLARE v_credit CHAR(2);
  DECLARE v_balance DECIMAL(12,2);
  START TRANSACTION;
  UPDATE warehouse# SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
  SELECT w_name INTO v_w_name FROM warehouse# WHERE w_id = p_w;
  UPDATE district# SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT d_name INTO v_d_name FROM district# WHERE d_w_id = p_w AND d_id = p_d;
]] .. CUSTOMER_BY_NAME .. [[

  SELECT c_credit, c_balance INTO v_credit, v_balance FROM customer#
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c FOR UPDATE;
  UPDATE customer# SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
    c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  IF v_credit = 'BC' THEN
    UPDATE customer# SET c_data = LEFT(CONCAT(v_c, ' ', p_c_d, ' ', p_c_w, ' ', p_d, ' ', p_w, ' ', p_amount, ' | ',
      c_data), 500) WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  END IF;
  INSERT INTO history# (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_c, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_amount, CONCAT(v_w_name, '    ', v_d_name));
  COMMIT;
END]]

procedures.order_status = [[(p_c_w INTEGER, p_c_d INTEGER, p_c INTEGER, p_last VARCHAR(16))
BEGIN
  DECLARE v_count, v_o, v_lines, v_quantity INTEGER;
  DECLARE v_c INTEGER DEFAULT p_c;
  DECLARE v_first, v_name VARCHAR(16);
  DECLARE v_balance, v_amount DECIMAL(12,2);
  DECLARE v_delivered {datetime};
  START TRANSACTION;
]] .. CUSTOMER_BY_NAME .. [[

  SELECT c_balance, c_first, c_last INTO v_balance, v_first, v_name FROM customer#
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  SELECT MAX(o_id) INTO v_o FROM orders# WHERE o_w_id = p_c_w AND o_d_id = p_c_d AND o_c_id = v_c;
  SELECT COUNT(ol_i_id), SUM(ol_quantity), SUM(ol_amount), MAX(ol_delivery_d)
    INTO v_lines, v_quantity, v_amount, v_delivered FROM order_line#
    WHERE ol_w_id = p_c_w AND ol_d_id = p_c_d AND ol_o_id = v_o;
  COMMIT;
END]]

procedures.delivery = [[(p_w INTEGER, p_carrier INTEGER)
BEGIN
  DECLARE v_d INTEGER DEFAULT 1;
  DECLARE v_o, v_c INTEGER;
  DECLARE v_amount DECIMAL(12,2);
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_o = NULL;
  START TRANSACTION;
  WHILE v_d <= 10 DO
    SELECT no_o_id INTO v_o FROM new_orders# WHERE no_w_id = p_w AND no_d_id = v_d
      ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF v_o IS NOT NULL THEN
      DELETE FROM new_orders# WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_o;
      SELECT o_c_id INTO v_c FROM orders# WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
      UPDATE orders# SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
      UPDATE order_line# SET ol_delivery_d = CURRENT_TIMESTAMP
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      SELECT SUM(ol_amount) INTO v_amount FROM order_line# WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      UPDATE customer# SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c;
    END IF;
    SET v_d = v_d + 1;
  END WHILE;
  COMMIT;
END]]

procedures.stock_level = [[(p_w INTEGER, p_d INTEGER, p_threshold INTEGER)
BEGIN
  DECLARE v_next, v_low INTEGER;
  START TRANSACTION;
  SELECT d_next_o_id INTO v_next FROM district# WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) INTO v_low FROM order_line#, stock#
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
      AND s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold;
  COMMIT;
END]]

return {
  create = "CREATE PROCEDURE %s%s",
  drop = "DROP PROCEDURE IF EXISTS %s",
  call = "CALL %s(%s)",
  procedures = procedures,
}
