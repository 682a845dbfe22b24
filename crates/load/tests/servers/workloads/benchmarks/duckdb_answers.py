"""Prints DuckDB's answers to queries on the tables of a SQLite file, in the form of the command `answer`.

usage: duckdb_answers.py FILE < queries, each after a line with # and its number

It writes to the current folder.
"""

import csv
import sqlite3
import sys

import duckdb

NULL = "\\N"
ROWS = "rows.csv"


def copy_tables(file, database):
    tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for name, create in file.execute(tables).fetchall():
        # SQLite keeps the types as they were written, and DuckDB has all of them.
        database.execute(create)
        with open(ROWS, "w", newline="") as rows:
            writer = csv.writer(rows, lineterminator="\n")
            for row in file.execute(f"SELECT * FROM {name}"):
                writer.writerow([NULL if value is None else value for value in row])
        database.execute(f"COPY {name} FROM '{ROWS}' (FORMAT csv, HEADER false, AUTO_DETECT false, NULLSTR '{NULL}')")


def shown(value):
    return "NULL" if value is None else str(value).rstrip(" ")


database = duckdb.connect()
# A slow query would otherwise print its progress among the answers.
database.execute("SET enable_progress_bar = false")
copy_tables(sqlite3.connect(sys.argv[1]), database)
for section in sys.stdin.read().split("# ")[1:]:
    number, query = section.split("\n", 1)
    print("# " + number)
    for row in database.execute(query).fetchall():
        print("|".join(map(shown, row)))
