-- What is planted on the new version only.
DROP INDEX sale_customer ON sale;
DROP INDEX alarm_happened ON alarm;
DROP INDEX parcel_code ON parcel;
-- Statistics that say that each value of the index has all rows. A server reads them when it opens the table again.
UPDATE mysql.innodb_index_stats SET stat_value = 1 WHERE database_name = DATABASE() AND table_name = 'article'
  AND index_name = 'article_author' AND stat_name = 'n_diff_pfx01';
UPDATE mysql.innodb_index_stats SET stat_value = 1 WHERE database_name = DATABASE() AND table_name = 'chapter'
  AND index_name = 'chapter_book' AND stat_name = 'n_diff_pfx01';
FLUSH TABLES article, chapter;
ALTER TABLE person MODIFY name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL;
CREATE OR REPLACE VIEW waiting AS SELECT id, started FROM job ORDER BY started, id LIMIT 5;
UPDATE task SET due = 2147483647 WHERE due IS NULL;
ALTER TABLE task MODIFY due INT NOT NULL;
DROP FUNCTION tax;
