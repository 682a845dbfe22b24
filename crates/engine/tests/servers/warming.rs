//! Every table and index of a server is read, so that a fresh instance has them in its caches.

use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::{Trial, server_test};

const ROWS: u64 = 200;
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn tests(system: &'static str) -> Vec<Trial> {
    vec![
        server_test("reads every table and index", system, reads),
        server_test("has nothing to read without tables", system, |server| {
            server.read_tables(PATIENCE).unwrap();
        }),
    ]
}

fn reads(server: &mut Server) {
    let rows: Vec<String> = (1..=ROWS).map(|id| format!("({id}, {})", ROWS - id)).collect();
    server
        .query("CREATE TABLE \"a b\" (id INT PRIMARY KEY, k INT)".replace('"', quote(server)).as_str())
        .unwrap();
    server.query("CREATE TABLE t (id INT PRIMARY KEY, k INT)").unwrap();
    server.query("CREATE INDEX k_of_t ON t (k)").unwrap();
    server.query(&format!("INSERT INTO t VALUES {}", rows.join(", "))).unwrap();
    let before = rows_read(server);
    server.read_tables(PATIENCE).unwrap();
    // PostgreSQL's statistics come in late, and tell of the table alone.
    let wanted = if is_postgres(server) { ROWS } else { 2 * ROWS };
    let asked_at = Instant::now();
    while rows_read(server) < before + wanted {
        assert!(asked_at.elapsed() < PATIENCE, "{} rows read, then {}", before, rows_read(server));
        std::thread::yield_now();
    }
}

fn is_postgres(server: &Server) -> bool {
    server.access().engine == "postgres"
}

fn quote(server: &Server) -> &'static str {
    if is_postgres(server) { "\"" } else { "`" }
}

/// Rows that scans have read so far.
fn rows_read(server: &Server) -> u64 {
    let (sql, column) = if is_postgres(server) {
        ("SELECT sum(seq_tup_read) FROM pg_stat_user_tables", 0)
    } else {
        ("SHOW GLOBAL STATUS LIKE 'Handler_read_next'", 1)
    };
    let rows = server.query(sql).unwrap().rows;
    rows[0][column].as_deref().and_then(|number| number.parse().ok()).unwrap_or(0)
}
