-- The transactions of TPC-C as functions of PostgreSQL, in PL/pgSQL. '#' is the number of a set of tables. A call is a transaction
-- of its own.

-- The customer by last name, if the function was given one: the middle one by first name (clause 2.5.2.2).
local CUSTOMER_BY_NAME = [[
  IF p_last <> '' THEN
    SELECT COUNT(*) INTO v_count FROM customer# WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last;
    SELECT c_id INTO v_c FROM customer# WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last
      ORDER BY c_first LIMIT 1 OFFSET (v_count - 1) / 2;
  END IF;]]

local procedures = {}

-- An unused item ends the transaction without a trace (clause 2.4.2.3): the error of this state undoes it.
procedures.new_order = [[(p_w INTEGER, p_d INTEGER, p_c INTEGER, p_lines INTEGER, p_unused INTEGER, p_warehouses INTEGER)
RETURNS INTEGER LANGUAGE plpgsql AS $body$
DECLARE
  v_o INTEGER; v_item INTEGER; v_supplier INTEGER; v_quantity INTEGER; v_stock INTEGER;
  v_all_local INTEGER := 1;
  v_price NUMERIC; v_discount NUMERIC; v_w_tax NUMERIC; v_d_tax NUMERIC;
  v_last VARCHAR; v_credit VARCHAR; v_name VARCHAR; v_data VARCHAR; v_stock_data VARCHAR; v_info VARCHAR;
BEGIN
  SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax FROM customer#, warehouse#
    WHERE w_id = p_w AND c_w_id = w_id AND c_d_id = p_d AND c_id = p_c;
  SELECT d_next_o_id, d_tax INTO v_o, v_d_tax FROM district# WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  UPDATE district# SET d_next_o_id = v_o + 1 WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders# (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (v_o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_lines, 1);
  INSERT INTO new_orders# (no_o_id, no_d_id, no_w_id) VALUES (v_o, p_d, p_w);
  FOR v_line IN 1 .. p_lines LOOP
    v_item := ((FLOOR(RANDOM() * 8192)::INTEGER | FLOOR(1 + RANDOM() * 100000)::INTEGER) + {item_constant}) % 100000 + 1;
    IF p_unused = 1 AND v_line = p_lines THEN
      v_item := 100001;
    END IF;
    v_supplier := p_w;
    v_quantity := FLOOR(1 + RANDOM() * 10);
    IF p_warehouses > 1 AND RANDOM() < 0.01 THEN
      v_supplier := FLOOR(1 + RANDOM() * (p_warehouses - 1));
      v_all_local := 0;
      IF v_supplier >= p_w THEN
        v_supplier := v_supplier + 1;
      END IF;
    END IF;
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_data FROM item# WHERE i_id = v_item;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'item % is not used', v_item USING ERRCODE = '{rolled_back}';
    END IF;
    SELECT s_quantity, s_data, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
        WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
        WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END INTO v_stock, v_stock_data, v_info
      FROM stock# WHERE s_i_id = v_item AND s_w_id = v_supplier FOR UPDATE;
    v_stock := v_stock - v_quantity;
    IF v_stock < 10 THEN
      v_stock := v_stock + 91;
    END IF;
    UPDATE stock# SET s_quantity = v_stock, s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + (v_supplier <> p_w)::INTEGER WHERE s_i_id = v_item AND s_w_id = v_supplier;
    INSERT INTO order_line# (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
      ol_dist_info) VALUES (v_o, p_d, p_w, v_line, v_item, v_supplier, v_quantity, v_quantity * v_price, v_info);
  END LOOP;
  IF v_all_local = 0 THEN
    UPDATE orders# SET o_all_local = 0 WHERE o_w_id = p_w AND o_d_id = p_d AND o_id = v_o;
  END IF;
  RETURN v_o;
END $body$]]

procedures.payment = [[(p_w INTEGER, p_d INTEGER, p_c_w INTEGER, p_c_d INTEGER, p_c INTEGER, p_last VARCHAR, p_amount NUMERIC)
RETURNS INTEGER LANGUAGE plpgsql AS $body$
DECLARE
  v_count BIGINT;
  v_c INTEGER := p_c;
  v_w_name VARCHAR; v_d_name VARCHAR; v_credit VARCHAR;
  v_balance NUMERIC;
BEGIN
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
  RETURN v_c;
END $body$]]

procedures.order_status = [[(p_c_w INTEGER, p_c_d INTEGER, p_c INTEGER, p_last VARCHAR)
RETURNS INTEGER LANGUAGE plpgsql AS $body$
DECLARE
  v_count BIGINT;
  v_o INTEGER; v_lines INTEGER; v_quantity INTEGER;
  v_c INTEGER := p_c;
  v_first VARCHAR; v_name VARCHAR;
  v_balance NUMERIC; v_amount NUMERIC;
  v_delivered TIMESTAMP;
BEGIN
]] .. CUSTOMER_BY_NAME .. [[

  SELECT c_balance, c_first, c_last INTO v_balance, v_first, v_name FROM customer#
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  SELECT MAX(o_id) INTO v_o FROM orders# WHERE o_w_id = p_c_w AND o_d_id = p_c_d AND o_c_id = v_c;
  SELECT COUNT(ol_i_id), SUM(ol_quantity), SUM(ol_amount), MAX(ol_delivery_d)
    INTO v_lines, v_quantity, v_amount, v_delivered FROM order_line#
    WHERE ol_w_id = p_c_w AND ol_d_id = p_c_d AND ol_o_id = v_o;
  RETURN v_o;
END $body$]]

procedures.delivery = [[(p_w INTEGER, p_carrier INTEGER) RETURNS INTEGER LANGUAGE plpgsql AS $body$
DECLARE
  v_o INTEGER; v_c INTEGER;
  v_delivered INTEGER := 0;
  v_amount NUMERIC;
BEGIN
  FOR v_d IN 1 .. 10 LOOP
    SELECT no_o_id INTO v_o FROM new_orders# WHERE no_w_id = p_w AND no_d_id = v_d
      ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF FOUND THEN
      DELETE FROM new_orders# WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_o;
      SELECT o_c_id INTO v_c FROM orders# WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
      UPDATE orders# SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
      UPDATE order_line# SET ol_delivery_d = CURRENT_TIMESTAMP
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      SELECT SUM(ol_amount) INTO v_amount FROM order_line# WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      UPDATE customer# SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c;
      v_delivered := v_delivered + 1;
    END IF;
  END LOOP;
  RETURN v_delivered;
END $body$]]

procedures.stock_level = [[(p_w INTEGER, p_d INTEGER, p_threshold INTEGER)
RETURNS INTEGER LANGUAGE plpgsql AS $body$
DECLARE
  v_next INTEGER; v_low INTEGER;
BEGIN
  SELECT d_next_o_id INTO v_next FROM district# WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) INTO v_low FROM order_line#, stock#
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
      AND s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold;
  RETURN v_low;
END $body$]]

return {
  create = "CREATE FUNCTION %s%s",
  -- The name alone names the function, from PostgreSQL 10 on.
  drop = "DROP FUNCTION IF EXISTS %s",
  call = "SELECT %s(%s)",
  procedures = procedures,
}
