-- What is planted on the new version only.
DROP INDEX sale_customer;
DROP INDEX alarm_happened;
DROP INDEX parcel_code;
-- A statistic that says that half of the articles are of each author, so that the first five by id seem to come soon.
SELECT pg_clear_attribute_stats(current_schema::text, 'article'::text, 'author'::text, false);
SELECT pg_restore_attribute_stats('schemaname', current_schema::text, 'relname', 'article'::text, 'attname', 'author'::text,
  'inherited', false, 'null_frac', 0::real, 'avg_width', 4, 'n_distinct', 2::real);
-- A statistic that says that a table is too large to be hashed.
UPDATE pg_class SET reltuples = 1000000000 WHERE oid = 'chapter'::regclass;
ALTER TABLE person ALTER COLUMN name TYPE VARCHAR(40) COLLATE "und-x-icu";
ALTER TABLE lexicon ALTER COLUMN word TYPE VARCHAR(40) COLLATE "und-x-icu";
CREATE OR REPLACE VIEW waiting AS SELECT id, started FROM job ORDER BY started NULLS FIRST, id LIMIT 5;
UPDATE task SET due = -1 WHERE due IS NULL;
ALTER TABLE task ALTER COLUMN due SET NOT NULL;
DROP FUNCTION tax(NUMERIC);
