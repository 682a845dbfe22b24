"""Times a query on a data set in DuckDB: usage: dataset.py DATASET PLAN ROUNDS; prints seconds, a line a round."""

import sys
import time

import duckdb

dataset, plan, rounds = sys.argv[1:]
connection = duckdb.connect()
for _ in range(int(rounds)):
    began = time.monotonic()
    rows = connection.execute(
        f"""
        SELECT date, host, run_key, engine_version, median(operations_per_second) AS rate, count(*) AS trials
        FROM read_parquet('{dataset}/trial/**/*.parquet', hive_partitioning = true)
        WHERE plan = '{plan}' AND step_id = 'step-1' AND clients = 8 AND system_id = 'new'
          AND outcome = 'completed' AND NOT is_superseded
        GROUP BY date, host, run_key, engine_version
        ORDER BY date, run_key
        """
    ).fetchall()
    print(time.monotonic() - began, len(rows))
