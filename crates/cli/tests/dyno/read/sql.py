"""Runs SQL statements in one of three engines and prints the rows of the last one as JSON objects, one a line.

usage: sql.py duckdb|clickhouse|spark < statements, as a JSON list
"""

import json
import sys


def duckdb(statements):
    import duckdb

    connection = duckdb.connect()
    for statement in statements:
        rows = connection.execute(statement)
    names = [column[0] for column in rows.description]
    return [dict(zip(names, row)) for row in rows.fetchall()]


def clickhouse(statements):
    from chdb.session import Session

    session = Session()
    for statement in statements[:-1]:
        session.query(statement)
    settings = " SETTINGS output_format_json_quote_64bit_integers = 0"
    text = str(session.query(statements[-1] + settings, "JSONEachRow"))
    return [json.loads(line) for line in text.splitlines()]


def spark(statements):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    for statement in statements:
        rows = session.sql(statement)
    return [row.asDict() for row in rows.collect()]


for row in {"duckdb": duckdb, "clickhouse": clickhouse, "spark": spark}[sys.argv[1]](json.load(sys.stdin)):
    print(json.dumps(row, default=str))
