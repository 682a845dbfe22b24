//! The results file: one SQLite database, its schema, writes and queries.
