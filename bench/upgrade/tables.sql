-- The tables of a shop, in SQL that MariaDB, MySQL and PostgreSQL share. Values follow from the number of a row.
CREATE TABLE digit (d INT PRIMARY KEY);
INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE series (n INT PRIMARY KEY);
INSERT INTO series SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d
  FROM digit a, digit b, digit c, digit e, digit f WHERE f.d < 2;

CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, region INT NOT NULL, city INT NOT NULL,
  balance DECIMAL(12, 2) NOT NULL, grade INT NOT NULL, joined INT NOT NULL, note VARCHAR(40) NOT NULL);
INSERT INTO customer SELECT n + 1, CONCAT('customer ', n + 1), n % 7, n % 50, n % 977 + 0.25, n % 5, n % 360,
  CONCAT('p', n * 7) FROM series WHERE n < 2000 ORDER BY n;
CREATE INDEX customer_region ON customer (region);

CREATE TABLE supplier (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, country INT NOT NULL, rating INT NOT NULL);
INSERT INTO supplier SELECT n + 1, CONCAT('supplier ', n + 1), n % 9, n % 6 FROM series WHERE n < 100 ORDER BY n;

CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, category INT NOT NULL,
  price DECIMAL(10, 2) NOT NULL, stock INT NOT NULL, weight INT NOT NULL, supplier INT NOT NULL, active INT NOT NULL);
INSERT INTO product SELECT n + 1, CONCAT('product ', n + 1), n % 20, n % 613 + 0.95, n % 211, n % 83, n % 100 + 1,
  n % 10 FROM series WHERE n < 1000 ORDER BY n;
CREATE INDEX product_category ON product (category);
CREATE INDEX product_supplier ON product (supplier);

CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL, day INT NOT NULL, state INT NOT NULL,
  total DECIMAL(12, 2) NOT NULL, items INT NOT NULL);
INSERT INTO orders SELECT n + 1, n * 7919 % 2000 + 1, n % 360, n % 4, n % 1931 + 0.50, n % 8 + 1
  FROM series WHERE n < 10000 ORDER BY n;
CREATE INDEX orders_customer ON orders (customer);
CREATE INDEX orders_day ON orders (day);

CREATE TABLE order_line (order_id INT NOT NULL, place INT NOT NULL, product INT NOT NULL, quantity INT NOT NULL,
  price DECIMAL(10, 2) NOT NULL, PRIMARY KEY (order_id, place));
INSERT INTO order_line SELECT n % 10000 + 1, CASE WHEN n < 10000 THEN 1 ELSE 2 END, n * 7907 % 1000 + 1, n % 9 + 1, n % 613 + 0.95
  FROM series ORDER BY n;
CREATE INDEX order_line_product ON order_line (product);

CREATE TABLE payment (id INT PRIMARY KEY, order_id INT NOT NULL, kind INT NOT NULL, amount DECIMAL(12, 2) NOT NULL,
  day INT NOT NULL);
INSERT INTO payment SELECT n + 1, n * 7919 % 10000 + 1, n % 3, n % 1931 + 0.50, n % 360
  FROM series WHERE n < 8000 ORDER BY n;
CREATE INDEX payment_order ON payment (order_id);

CREATE TABLE page (id INT PRIMARY KEY, path VARCHAR(60) NOT NULL, section INT NOT NULL);
INSERT INTO page SELECT n + 1, CONCAT('/shop/', n % 12, '/', n + 1), n % 12 FROM series WHERE n < 300 ORDER BY n;

CREATE TABLE visit (id INT PRIMARY KEY, customer INT NOT NULL, page INT NOT NULL, day INT NOT NULL,
  seconds INT NOT NULL);
INSERT INTO visit SELECT n + 1, n * 7919 % 2000 + 1, n * 31 % 300 + 1, n % 360, n % 171
  FROM series ORDER BY n;
CREATE INDEX visit_customer ON visit (customer);
CREATE INDEX visit_page_day ON visit (page, day);

CREATE TABLE ticket (id INT PRIMARY KEY, customer INT NOT NULL, severity INT NOT NULL, opened INT NOT NULL, closed INT,
  title VARCHAR(60) NOT NULL);
INSERT INTO ticket SELECT n + 1, n * 17 % 2000 + 1, n % 5, n % 360, CASE WHEN n % 3 = 0 THEN NULL ELSE n % 360 + 2 END,
  CONCAT('ticket ', n % 77) FROM series WHERE n < 3000 ORDER BY n;
CREATE INDEX ticket_customer ON ticket (customer);
CREATE INDEX ticket_opened ON ticket (opened);

CREATE TABLE stock_move (id INT PRIMARY KEY, product INT NOT NULL, day INT NOT NULL, quantity INT NOT NULL);
INSERT INTO stock_move SELECT n + 1, n * 7919 % 1000 + 1, n % 360, n % 21 - 10 FROM series WHERE n < 5000 ORDER BY n;
CREATE INDEX stock_move_product ON stock_move (product);

-- Only planted regressions use the tables below.
CREATE TABLE sale (id INT PRIMARY KEY, customer INT NOT NULL, amount INT NOT NULL);
INSERT INTO sale SELECT n + 1, n * 7919 % 2000 + 1, n % 97 FROM series ORDER BY n;
CREATE INDEX sale_customer ON sale (customer);

CREATE TABLE alarm (id INT PRIMARY KEY, happened INT NOT NULL, severity INT NOT NULL);
INSERT INTO alarm SELECT n + 1, n * 7919 % 20011, n % 6 FROM series ORDER BY n;
CREATE INDEX alarm_happened ON alarm (happened);

CREATE TABLE parcel (id INT PRIMARY KEY, code VARCHAR(40) NOT NULL, weight INT NOT NULL);
INSERT INTO parcel SELECT n + 1, CONCAT('p', n), n % 83 FROM series ORDER BY n;
CREATE INDEX parcel_code ON parcel (code);

CREATE TABLE author (id INT PRIMARY KEY, team INT NOT NULL, age INT NOT NULL);
INSERT INTO author SELECT n + 1, n % 1000 + 1, n % 100 FROM series WHERE n < 2000 ORDER BY n;
CREATE INDEX author_team ON author (team);
CREATE TABLE article (id INT PRIMARY KEY, author INT NOT NULL, words INT NOT NULL, age INT NOT NULL);
INSERT INTO article SELECT n + 1, n * 7919 % 2000 + 1, n % 1301, n % 100 FROM series ORDER BY n;
CREATE INDEX article_author ON article (author);

CREATE TABLE book (id INT PRIMARY KEY, title VARCHAR(40) NOT NULL);
INSERT INTO book SELECT n + 1, CONCAT('book ', n + 1) FROM series WHERE n < 2000 ORDER BY n;
CREATE TABLE chapter (id INT PRIMARY KEY, book INT NOT NULL, words INT NOT NULL);
INSERT INTO chapter SELECT n + 1, n * 7919 % 1950 + 51, n % 1301 FROM series ORDER BY n;
CREATE INDEX chapter_book ON chapter (book);

CREATE TABLE banned (id INT PRIMARY KEY, product INT NOT NULL, reason INT NOT NULL);
INSERT INTO banned SELECT n + 1, n % 900 + 101, n % 11 FROM series WHERE n < 6000 ORDER BY n;

CREATE TABLE link (id INT PRIMARY KEY, source INT NOT NULL, target INT NOT NULL);
INSERT INTO link SELECT n + 1, n * 7919 % 5000 + 1, n * 31 % 5000 + 1 FROM series ORDER BY n;
CREATE INDEX link_source ON link (source);
CREATE INDEX link_target ON link (target);

CREATE TABLE job (id INT PRIMARY KEY, started INT);
INSERT INTO job SELECT n + 1, CASE WHEN n % 4 = 0 THEN NULL ELSE n END FROM series WHERE n < 400 ORDER BY n;
CREATE VIEW waiting AS SELECT id, started FROM job ORDER BY started IS NULL, started, id LIMIT 5;

CREATE TABLE task (id INT PRIMARY KEY, worker INT NOT NULL, due INT);
INSERT INTO task SELECT n + 1, n % 50 + 1, CASE WHEN n < 50 THEN NULL ELSE n END FROM series WHERE n < 1000 ORDER BY n;
CREATE INDEX task_worker ON task (worker);
