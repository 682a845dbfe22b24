-- More tables, in MariaDB's SQL. Only planted regressions use them.
ALTER TABLE article STATS_PERSISTENT = 1, STATS_AUTO_RECALC = 0;
ALTER TABLE chapter STATS_PERSISTENT = 1, STATS_AUTO_RECALC = 0;

-- utf8mb4_general_ci, the default collation of 10.5 for utf8mb4, distinguishes strasse from straße.
CREATE TABLE lexicon (id INT PRIMARY KEY, section INT NOT NULL, word VARCHAR(40) CHARACTER SET latin1 NOT NULL);
INSERT INTO lexicon SELECT n + 1, n % 10 + 1, CASE WHEN n % 20 < 10 THEN 'strasse' ELSE 'straße' END FROM series
  WHERE n < 200 ORDER BY n;

CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL);
INSERT INTO person SELECT n + 1, CONCAT('Person ', n + 1) FROM series WHERE n < 500 ORDER BY n;
CREATE INDEX person_name ON person (name);

CREATE TABLE shipment (id INT PRIMARY KEY, sent DATE NOT NULL);

-- `offset` is reserved since 10.6, `row_number` since 10.7.
CREATE TABLE chunk (id INT PRIMARY KEY, `offset` INT NOT NULL, `row_number` INT NOT NULL);
INSERT INTO chunk SELECT n + 1, n * 4096, n % 97 FROM series WHERE n < 1000 ORDER BY n;
