//! The queries for the counters of PostgreSQL.

use dyno_client::{Client, ClientError};

use super::depth::Depth;
use super::name::CounterKind;
use super::query::{Layout, Query};

/// Queries for all releases. A server refuses queries that are for other releases.
pub(super) fn queries(client: &mut Client) -> Result<Vec<Query>, ClientError> {
    make_statements_readable(client)?;
    let light = |source, keys, sql| Query::new(source, Depth::Light, sql, Layout::Columns(keys), column);
    let full = |source, sql| Query::new(source, Depth::Full, sql, Layout::Columns(1), column);
    Ok(vec![
        light("pg_stat_database", 0, "SELECT * FROM pg_stat_database WHERE datname = current_database()"),
        light("pg_stat_bgwriter", 0, "SELECT * FROM pg_stat_bgwriter"),
        // PostgreSQL 17 and later have this view.
        light("pg_stat_checkpointer", 0, "SELECT * FROM pg_stat_checkpointer"),
        // PostgreSQL 14 and later have this view.
        light("pg_stat_wal", 0, "SELECT * FROM pg_stat_wal"),
        // PostgreSQL 16 and later have this view. Most of its rows are always 0, so they are left out.
        light(
            "pg_stat_io",
            3,
            "SELECT * FROM pg_stat_io WHERE coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) \
             + coalesce(hits, 0) + coalesce(fsyncs, 0) > 0",
        ),
        full("pg_stat_user_tables", "SELECT schemaname || '.' || relname, s.* FROM pg_stat_user_tables s"),
        full(
            "pg_stat_user_indexes",
            "SELECT schemaname || '.' || indexrelname, s.* FROM pg_stat_user_indexes s",
        ),
        full(
            "pg_statio_user_tables",
            "SELECT schemaname || '.' || relname, s.* FROM pg_statio_user_tables s",
        ),
        full(
            "pg_statio_user_indexes",
            "SELECT schemaname || '.' || indexrelname, s.* FROM pg_statio_user_indexes s",
        ),
        // PostgreSQL 13 renamed the columns of times. So there are two queries for this source, and a server refuses
        // one of them.
        full(
            "pg_stat_statements",
            "SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 200), sum(calls) AS calls, sum(rows) AS rows, \
             sum(total_exec_time) AS total_exec_time, sum(shared_blks_hit) AS shared_blks_hit, \
             sum(shared_blks_read) AS shared_blks_read, sum(shared_blks_dirtied) AS shared_blks_dirtied, \
             sum(shared_blks_written) AS shared_blks_written, sum(wal_bytes) AS wal_bytes \
             FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid \
             WHERE datname = current_database() GROUP BY 1",
        ),
        full(
            "pg_stat_statements",
            "SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 200), sum(calls) AS calls, sum(rows) AS rows, \
             sum(total_time) AS total_time, sum(shared_blks_hit) AS shared_blks_hit, \
             sum(shared_blks_read) AS shared_blks_read, sum(shared_blks_dirtied) AS shared_blks_dirtied, \
             sum(shared_blks_written) AS shared_blks_written \
             FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid \
             WHERE datname = current_database() GROUP BY 1",
        ),
    ])
}

/// Creates the view of `pg_stat_statements`. The library counts as soon as it is loaded, but its counters can be
/// read only through the view. If the account may not create the view, these counters are missing.
fn make_statements_readable(client: &mut Client) -> Result<(), ClientError> {
    let libraries = client.query("SHOW shared_preload_libraries")?;
    let is_loaded =
        libraries.rows.iter().flatten().flatten().any(|libraries| libraries.contains("pg_stat_statements"));
    if is_loaded {
        match client.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements") {
            Ok(_) | Err(ClientError::Server(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The kind of a column. Object ids are skipped. Most amounts only grow. The amounts that can fall are gauges.
fn column(name: &str, _: Option<&str>) -> Option<CounterKind> {
    const GAUGES: [&str; 5] =
        ["numbackends", "n_live_tup", "n_dead_tup", "n_mod_since_analyze", "n_ins_since_vacuum"];
    match name {
        // `op_bytes` is the size of an operation, a constant, in pg_stat_io of 16 and 17.
        "datid" | "relid" | "indexrelid" | "op_bytes" => None,
        name if GAUGES.contains(&name) => Some(CounterKind::Gauge),
        _ => Some(CounterKind::Counter),
    }
}
