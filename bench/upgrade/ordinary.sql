-- Statements without a planted regression. Each line: how often it is executed, and the statements of a transaction.
-- {N} is a number from 1 to N, {=} the last one again, {#} a number that no row has.
30: SELECT name FROM customer WHERE id = {2000}
30: SELECT name, region, city FROM customer WHERE id = {2000}
30: SELECT balance, grade FROM customer WHERE id = {2000}
30: SELECT joined, note FROM customer WHERE id = {2000}
30: SELECT name, balance, joined FROM customer WHERE id = {2000}
30: SELECT id, name, region, city, balance, grade, joined, note FROM customer WHERE id = {2000}
30: SELECT name, price FROM product WHERE id = {1000}
30: SELECT stock FROM product WHERE id = {1000}
30: SELECT name, category, price, stock FROM product WHERE id = {1000}
30: SELECT weight, supplier FROM product WHERE id = {1000}
30: SELECT active, price, stock FROM product WHERE id = {1000}
30: SELECT id, name, category, price, stock, weight, supplier, active FROM product WHERE id = {1000}
30: SELECT name FROM supplier WHERE id = {100}
30: SELECT name, country, rating FROM supplier WHERE id = {100}
30: SELECT rating FROM supplier WHERE id = {100}
30: SELECT state FROM orders WHERE id = {10000}
30: SELECT total, items FROM orders WHERE id = {10000}
30: SELECT customer, day, state FROM orders WHERE id = {10000}
30: SELECT customer, day, state, total, items FROM orders WHERE id = {10000}
30: SELECT id, customer, total FROM orders WHERE id = {10000}
30: SELECT amount FROM payment WHERE id = {8000}
30: SELECT order_id, kind, amount FROM payment WHERE id = {8000}
30: SELECT kind, day FROM payment WHERE id = {8000}
30: SELECT id, order_id, kind, amount, day FROM payment WHERE id = {8000}
30: SELECT path FROM page WHERE id = {300}
30: SELECT path, section FROM page WHERE id = {300}
30: SELECT section FROM page WHERE id = {300}
30: SELECT page, day FROM visit WHERE id = {20000}
30: SELECT customer, seconds FROM visit WHERE id = {20000}
30: SELECT customer, page, day, seconds FROM visit WHERE id = {20000}
30: SELECT title FROM ticket WHERE id = {3000}
30: SELECT severity, opened, closed FROM ticket WHERE id = {3000}
30: SELECT customer, title FROM ticket WHERE id = {3000}
30: SELECT customer, severity, opened, closed, title FROM ticket WHERE id = {3000}
30: SELECT quantity FROM stock_move WHERE id = {5000}
30: SELECT product, day, quantity FROM stock_move WHERE id = {5000}
30: SELECT product, quantity FROM stock_move WHERE id = {5000}
30: SELECT place, product, quantity, price FROM order_line WHERE order_id = {10000} ORDER BY place
30: SELECT quantity FROM order_line WHERE order_id = {10000} AND place = {2}
20: SELECT price, quantity FROM order_line WHERE order_id = {10000} AND place = {2}
20: SELECT id, day, total FROM orders WHERE customer = {2000} ORDER BY id
20: SELECT id, state FROM orders WHERE customer = {2000} ORDER BY id
20: SELECT id, total FROM orders WHERE day = {360} ORDER BY id
20: SELECT id, amount FROM payment WHERE order_id = {10000} ORDER BY id
20: SELECT kind, amount, day FROM payment WHERE order_id = {10000} ORDER BY kind
20: SELECT id, page, day FROM visit WHERE customer = {2000} ORDER BY id
20: SELECT id, seconds FROM visit WHERE customer = {2000} ORDER BY id
20: SELECT id, title, closed FROM ticket WHERE customer = {2000} ORDER BY id
20: SELECT id, severity FROM ticket WHERE customer = {2000} ORDER BY id
20: SELECT id, customer, severity FROM ticket WHERE opened = {360} ORDER BY id
20: SELECT id, day, quantity FROM stock_move WHERE product = {1000} ORDER BY id
20: SELECT order_id, place, quantity FROM order_line WHERE product = {1000} ORDER BY order_id, place
20: SELECT id, name, price FROM product WHERE category = {20} ORDER BY id
20: SELECT id, stock FROM product WHERE supplier = {100} ORDER BY id
20: SELECT id, name FROM product WHERE supplier = {100} ORDER BY id
20: SELECT id, customer FROM visit WHERE page = {300} AND day = {360} ORDER BY id
20: SELECT id, seconds FROM visit WHERE page = {300} AND day BETWEEN {340} AND {=} + 15 ORDER BY id
15: SELECT id, name FROM customer WHERE id BETWEEN {1950} AND {=} + 20 ORDER BY id
15: SELECT id, balance FROM customer WHERE id BETWEEN {1950} AND {=} + 40 ORDER BY id
15: SELECT id, region, grade FROM customer WHERE id BETWEEN {1950} AND {=} + 30 ORDER BY id
15: SELECT id, name, price FROM product WHERE id BETWEEN {950} AND {=} + 20 ORDER BY id
15: SELECT id, stock, weight FROM product WHERE id BETWEEN {950} AND {=} + 40 ORDER BY id
15: SELECT id, name, rating FROM supplier WHERE id BETWEEN {90} AND {=} + 10 ORDER BY id
15: SELECT id, customer, total FROM orders WHERE id BETWEEN {9900} AND {=} + 50 ORDER BY id
15: SELECT id, state FROM orders WHERE id BETWEEN {9900} AND {=} + 80 ORDER BY id
15: SELECT id, customer, total FROM orders WHERE day BETWEEN {355} AND {=} + 2 ORDER BY id
15: SELECT id, amount FROM payment WHERE id BETWEEN {7900} AND {=} + 50 ORDER BY id
15: SELECT id, path FROM page WHERE id BETWEEN {280} AND {=} + 15 ORDER BY id
15: SELECT id, page, seconds FROM visit WHERE id BETWEEN {19900} AND {=} + 60 ORDER BY id
15: SELECT id, title FROM ticket WHERE id BETWEEN {2900} AND {=} + 40 ORDER BY id
15: SELECT id, severity, customer FROM ticket WHERE opened BETWEEN {350} AND {=} + 4 ORDER BY id
15: SELECT id, product, quantity FROM stock_move WHERE id BETWEEN {4900} AND {=} + 50 ORDER BY id
15: SELECT order_id, place, price FROM order_line WHERE order_id BETWEEN {9900} AND {=} + 20 ORDER BY order_id, place
15: SELECT id, name FROM customer WHERE id > {1950} ORDER BY id LIMIT 10
15: SELECT id, name FROM customer WHERE id < {1950} + 20 ORDER BY id DESC LIMIT 10
15: SELECT id, total FROM orders WHERE id > {9900} ORDER BY id LIMIT 20
15: SELECT id, total FROM orders WHERE id < {9900} + 20 ORDER BY id DESC LIMIT 20
15: SELECT id, seconds FROM visit WHERE id > {19900} ORDER BY id LIMIT 10
15: SELECT id, seconds FROM visit WHERE id < {19900} + 20 ORDER BY id DESC LIMIT 10
15: SELECT id, title FROM ticket WHERE id > {2900} ORDER BY id LIMIT 10
15: SELECT id, title FROM ticket WHERE id < {2900} + 20 ORDER BY id DESC LIMIT 10
15: SELECT id, amount FROM payment WHERE id > {7900} ORDER BY id LIMIT 20
15: SELECT id, amount FROM payment WHERE id < {7900} + 20 ORDER BY id DESC LIMIT 20
15: SELECT id, price FROM product WHERE id > {950} ORDER BY id LIMIT 10
15: SELECT id, price FROM product WHERE id < {950} + 20 ORDER BY id DESC LIMIT 10
15: SELECT id, day, total FROM orders WHERE customer = {2000} ORDER BY day DESC, id DESC LIMIT 5
15: SELECT id, opened, title FROM ticket WHERE customer = {2000} ORDER BY opened DESC, id DESC LIMIT 3
15: SELECT id, name FROM customer WHERE id IN ({2000}, {2000}, {2000}, {2000}) ORDER BY id
15: SELECT id, name, stock FROM product WHERE id IN ({1000}, {1000}, {1000}, {1000}) ORDER BY id
15: SELECT id, state, total FROM orders WHERE id IN ({10000}, {10000}, {10000}, {10000}) ORDER BY id
15: SELECT id, path FROM page WHERE id IN ({300}, {300}, {300}, {300}) ORDER BY id
15: SELECT id, amount FROM payment WHERE id IN ({8000}, {8000}, {8000}, {8000}) ORDER BY id
15: SELECT id, severity FROM ticket WHERE id IN ({3000}, {3000}, {3000}, {3000}) ORDER BY id
15: SELECT COUNT(*) FROM orders WHERE customer = {2000}
15: SELECT SUM(total) FROM orders WHERE customer = {2000}
15: SELECT MAX(day) FROM orders WHERE customer = {2000}
15: SELECT COUNT(*), SUM(total) FROM orders WHERE day = {360}
15: SELECT SUM(amount) FROM payment WHERE order_id = {10000}
15: SELECT COUNT(*) FROM visit WHERE customer = {2000}
15: SELECT SUM(seconds), MAX(day) FROM visit WHERE customer = {2000}
15: SELECT COUNT(*) FROM ticket WHERE customer = {2000}
15: SELECT MIN(opened), MAX(opened) FROM ticket WHERE customer = {2000}
15: SELECT SUM(quantity) FROM stock_move WHERE product = {1000}
15: SELECT COUNT(*), MIN(quantity), MAX(quantity) FROM stock_move WHERE product = {1000}
15: SELECT SUM(quantity * price) FROM order_line WHERE order_id = {10000}
15: SELECT SUM(quantity) FROM order_line WHERE product = {1000}
15: SELECT COUNT(*), MAX(price) FROM product WHERE category = {20}
15: SELECT SUM(stock) FROM product WHERE supplier = {100}
15: SELECT COUNT(*) FROM customer WHERE region = {6}
10: SELECT state, COUNT(*) FROM orders WHERE day = {360} GROUP BY state ORDER BY state
10: SELECT state, SUM(total) FROM orders WHERE id BETWEEN {9000} AND {=} + 500 GROUP BY state ORDER BY state
10: SELECT kind, COUNT(*), SUM(amount) FROM payment WHERE id BETWEEN {7000} AND {=} + 500 GROUP BY kind ORDER BY kind
10: SELECT severity, COUNT(*) FROM ticket WHERE opened = {360} GROUP BY severity ORDER BY severity
10: SELECT severity, MAX(opened) FROM ticket WHERE id BETWEEN {2500} AND {=} + 300 GROUP BY severity ORDER BY severity
10: SELECT page, SUM(seconds) FROM visit WHERE customer = {2000} GROUP BY page ORDER BY page
10: SELECT day, COUNT(*) FROM visit WHERE page = {300} GROUP BY day ORDER BY day LIMIT 10
10: SELECT city, COUNT(*) FROM customer WHERE region = {6} GROUP BY city ORDER BY city
10: SELECT category, AVG(price) FROM product GROUP BY category ORDER BY category
10: SELECT section, COUNT(*) FROM page GROUP BY section ORDER BY section
10: SELECT country, MAX(rating) FROM supplier GROUP BY country ORDER BY country
10: SELECT grade, SUM(balance) FROM customer GROUP BY grade ORDER BY grade
10: SELECT product, SUM(quantity) FROM stock_move WHERE id BETWEEN {4500} AND {=} + 200 GROUP BY product HAVING SUM(quantity) > 10 ORDER BY product
10: SELECT DISTINCT city FROM customer WHERE region = {6} ORDER BY city
10: SELECT DISTINCT day FROM orders WHERE customer = {2000} ORDER BY day
10: SELECT COUNT(*) FROM ticket WHERE closed IS NULL
10: SELECT COUNT(*) FROM product WHERE stock < {50}
10: SELECT COUNT(*) FROM customer WHERE name LIKE 'customer 1%'
10: SELECT id, name FROM product WHERE name LIKE 'product {9}%' ORDER BY id LIMIT 5
15: SELECT orders.id, customer.name FROM orders JOIN customer ON customer.id = orders.customer WHERE orders.id = {10000}
15: SELECT customer.name, orders.total FROM customer JOIN orders ON orders.customer = customer.id WHERE customer.id = {2000} ORDER BY orders.id
15: SELECT orders.day, order_line.product, order_line.quantity FROM orders JOIN order_line ON order_line.order_id = orders.id WHERE orders.id = {10000} ORDER BY order_line.place
15: SELECT product.name, order_line.quantity FROM order_line JOIN product ON product.id = order_line.product WHERE order_line.order_id = {10000} ORDER BY order_line.place
15: SELECT product.name, supplier.name FROM product JOIN supplier ON supplier.id = product.supplier WHERE product.id = {1000}
15: SELECT supplier.name, COUNT(*) FROM supplier JOIN product ON product.supplier = supplier.id WHERE supplier.id = {100} GROUP BY supplier.name
15: SELECT page.path, visit.seconds FROM visit JOIN page ON page.id = visit.page WHERE visit.customer = {2000} ORDER BY visit.id
15: SELECT page.section, SUM(visit.seconds) FROM visit JOIN page ON page.id = visit.page WHERE visit.customer = {2000} GROUP BY page.section ORDER BY page.section
15: SELECT customer.name, ticket.title FROM ticket JOIN customer ON customer.id = ticket.customer WHERE ticket.id = {3000}
15: SELECT customer.region, COUNT(*) FROM ticket JOIN customer ON customer.id = ticket.customer WHERE ticket.opened = {360} GROUP BY customer.region ORDER BY customer.region
15: SELECT orders.total, payment.amount FROM orders JOIN payment ON payment.order_id = orders.id WHERE orders.id = {10000} ORDER BY payment.id
15: SELECT orders.id, payment.kind FROM orders LEFT JOIN payment ON payment.order_id = orders.id WHERE orders.customer = {2000} ORDER BY orders.id, payment.id
15: SELECT customer.name, SUM(orders.total) FROM customer JOIN orders ON orders.customer = customer.id WHERE customer.id BETWEEN {1900} AND {=} + 5 GROUP BY customer.name ORDER BY customer.name
15: SELECT product.name, SUM(stock_move.quantity) FROM product JOIN stock_move ON stock_move.product = product.id WHERE product.id = {1000} GROUP BY product.name
15: SELECT customer.name, orders.day, order_line.quantity FROM customer JOIN orders ON orders.customer = customer.id JOIN order_line ON order_line.order_id = orders.id WHERE customer.id = {2000} ORDER BY orders.id, order_line.place
15: SELECT orders.day, product.name FROM orders JOIN order_line ON order_line.order_id = orders.id JOIN product ON product.id = order_line.product WHERE orders.id = {10000} ORDER BY order_line.place
15: SELECT customer.id, ticket.id FROM customer LEFT JOIN ticket ON ticket.customer = customer.id WHERE customer.id BETWEEN {1900} AND {=} + 10 ORDER BY customer.id, ticket.id
15: SELECT MIN(id), MAX(id) FROM orders
15: SELECT MAX(id) FROM visit
15: SELECT COUNT(*) FROM orders WHERE day BETWEEN {350} AND {=} + 1
15: SELECT SUM(total) FROM orders WHERE customer = {2000} AND state = {3}
15: SELECT id, total FROM orders WHERE customer = {2000} AND day > {300} ORDER BY id
15: SELECT id FROM visit WHERE customer = {2000} AND seconds > {150} ORDER BY id
15: SELECT id, title FROM ticket WHERE customer = {2000} AND closed IS NULL ORDER BY id
15: SELECT id, price FROM product WHERE category = {19} ORDER BY price, id LIMIT 5
15: SELECT id, price * stock FROM product WHERE id = {1000}
15: SELECT CONCAT(name, ', ', note) FROM customer WHERE id = {2000}
15: SELECT CASE WHEN balance > 500 THEN 'high' ELSE 'low' END FROM customer WHERE id = {2000}
15: SELECT COALESCE(closed, 0) FROM ticket WHERE id = {3000}
15: SELECT id, amount * 2 FROM payment WHERE order_id = {10000} AND kind = {2} ORDER BY id
15: SELECT UPPER(name) FROM supplier WHERE id = {100}
20: UPDATE customer SET balance = balance + {90} WHERE id = {2000}
20: UPDATE product SET stock = stock + {9} WHERE id = {1000}
15: UPDATE ticket SET severity = {4} WHERE id = {3000}
15: UPDATE orders SET state = {3} WHERE id = {10000}
10: UPDATE product SET price = price + 0.05 WHERE supplier = {100}
20: INSERT INTO visit (id, customer, page, day, seconds) VALUES ({#}, {2000}, {300}, {360}, {170})
10: INSERT INTO stock_move (id, product, day, quantity) VALUES ({#}, {1000}, {360}, {20}), ({#}, {1000}, {360}, {20})
10: INSERT INTO ticket (id, customer, severity, opened, closed, title) VALUES ({#}, {2000}, {4}, {360}, NULL, 'ticket {70}')
10: DELETE FROM visit WHERE id = {20000}
10: DELETE FROM stock_move WHERE id = {5000}
20: BEGIN; INSERT INTO orders (id, customer, day, state, total, items) VALUES ({#}, {2000}, {360}, 0, {900}.50, 1); UPDATE customer SET balance = balance - {90}, joined = joined WHERE id = {2000}; COMMIT
20: BEGIN; SELECT stock, price FROM product WHERE id = {1000} FOR UPDATE; UPDATE product SET stock = stock - {9} WHERE id = {1000}; INSERT INTO order_line (order_id, place, product, quantity, price) VALUES ({#}, 1, {1000}, {9}, {600}.95); COMMIT
15: BEGIN; INSERT INTO payment (id, order_id, kind, amount, day) VALUES ({#}, {10000}, {2}, {900}.50, {360}); UPDATE orders SET state = {3}, items = items WHERE id = {10000}; COMMIT
10: BEGIN; UPDATE ticket SET closed = {360} WHERE customer = {2000}; DELETE FROM visit WHERE customer = {2000} AND day = {360}; COMMIT
