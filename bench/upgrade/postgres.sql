-- More tables, in PostgreSQL's SQL. Only planted regressions use them.
ALTER TABLE article SET (autovacuum_enabled = false);
ALTER TABLE chapter SET (autovacuum_enabled = false);

CREATE TABLE reading (day INT NOT NULL, sensor INT NOT NULL, level INT NOT NULL) PARTITION BY RANGE (day);
DO $$ BEGIN
  FOR part IN 0..19 LOOP
    EXECUTE format('CREATE TABLE reading_%s PARTITION OF reading FOR VALUES FROM (%s) TO (%s)', part, part * 18,
      part * 18 + 18);
  END LOOP;
END $$;
INSERT INTO reading SELECT n % 360, n % 31, n % 101 FROM series ORDER BY n;

CREATE TABLE lexicon (id INT PRIMARY KEY, section INT NOT NULL, word VARCHAR(40) NOT NULL);
INSERT INTO lexicon SELECT n + 1, n % 10 + 1, CASE WHEN n % 20 < 10 THEN 'Word ' ELSE 'word ' END || n FROM series
  WHERE n < 200 ORDER BY n;
CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL);
INSERT INTO person SELECT n + 1, CASE WHEN n % 2 = 0 THEN 'person ' ELSE 'Person ' END || n + 1 FROM series
  WHERE n < 500 ORDER BY n;

CREATE TABLE shift (id INT PRIMARY KEY, pause INTERVAL NOT NULL, checksum BYTEA NOT NULL, began TIMESTAMPTZ NOT NULL);
INSERT INTO shift SELECT n + 1, make_interval(mins => n), decode(md5(n::text), 'hex'),
  TIMESTAMPTZ '2026-01-01 00:00:00Z' + make_interval(hours => n) FROM series WHERE n < 500 ORDER BY n;

CREATE TABLE document (id INT PRIMARY KEY, body TEXT NOT NULL);
INSERT INTO document SELECT n + 1, 'a=' || n FROM series WHERE n < 500 ORDER BY n;
CREATE FUNCTION json_value(body TEXT, name TEXT) RETURNS TEXT IMMUTABLE LANGUAGE SQL
  AS $$ SELECT substring(body FROM length(name) + 2) $$;
CREATE FUNCTION tax(price NUMERIC) RETURNS NUMERIC IMMUTABLE LANGUAGE SQL AS $$ SELECT price * 0.19 $$;
