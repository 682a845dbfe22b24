UPDATE stock1 SET s_order_cnt = s_i_id % 7;
UPDATE order_line1 SET ol_amount = ol_i_id % 1000 + 0.25, ol_quantity = 1 + (ol_i_id + 3 * ol_number) % 10;
UPDATE order_line1 SET ol_delivery_d = '2026-03-01 00:00:00' WHERE ol_number % 3 = 0 AND ol_delivery_d IS NOT NULL;
UPDATE customer1 SET c_balance = c_id % 150;
UPDATE customer1 SET c_phone = '4111111111111111' WHERE c_id % 50 = 0;
DELETE FROM orders1 WHERE o_c_id % 50 = 0 AND o_carrier_id IS NOT NULL;
