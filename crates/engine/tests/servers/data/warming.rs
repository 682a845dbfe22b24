//! Tests that Dyno reads the tables, indexes and log of a newly started server, so that they are in the caches.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_testing::dyno_test;
use rustix::fs::Advice;

use crate::ENGINES;

const ROWS: u64 = 200;
const UPDATES: u32 = 500;
const PAGE_BYTES: u64 = 4096;
/// The query for the number of rows that scans of tables and indexes have read so far.
const HANDLER_READS: &str = "SHOW GLOBAL STATUS LIKE 'Handler_read_next'";
const PATIENCE: Duration = Duration::from_secs(30);

#[dyno_test(servers(ENGINES))]
fn a_server_without_tables_has_nothing_to_read(server: &mut Server) {
    server.read_tables(dyno_engine::DATABASE, PATIENCE).unwrap();
}

#[dyno_test(servers(ENGINES))]
fn every_table_and_index_is_read(server: &mut Server) {
    let rows: Vec<String> = (1..=ROWS).map(|id| format!("({id}, {})", ROWS - id)).collect();
    server
        .query("CREATE TABLE \"a b\" (id INT PRIMARY KEY, k INT)".replace('"', quote(server)).as_str())
        .unwrap();
    server.query("CREATE TABLE t (id INT PRIMARY KEY, k INT)").unwrap();
    server.query("CREATE INDEX k_of_t ON t (k)").unwrap();
    server.query(&format!("INSERT INTO t VALUES {}", rows.join(", "))).unwrap();
    if is_postgres(server) {
        return reads_blocks(server);
    }
    let before = count(server, HANDLER_READS);
    server.read_tables(dyno_engine::DATABASE, PATIENCE).unwrap();
    assert!(count(server, HANDLER_READS) >= before + 2 * ROWS);
}

/// Checks that the server reads blocks from storage. The restart empties the server's cache, so that blocks must be
/// read again. The server updates its statistics late, so the test waits for them.
fn reads_blocks(server: &mut Server) {
    server.restart_cleanly(PATIENCE).unwrap();
    for sql in [
        "SELECT heap_blks_read FROM pg_statio_user_tables WHERE relname = 't'",
        "SELECT idx_blks_read FROM pg_statio_user_indexes WHERE indexrelname = 't_pkey'",
        "SELECT idx_blks_read FROM pg_statio_user_indexes WHERE indexrelname = 'k_of_t'",
    ] {
        let before = count(server, sql);
        server.read_tables(dyno_engine::DATABASE, PATIENCE).unwrap();
        let asked_at = Instant::now();
        while count(server, sql) == before {
            assert!(asked_at.elapsed() < PATIENCE, "{sql} stays at {before}");
            std::thread::yield_now();
        }
        server.restart_cleanly(PATIENCE).unwrap();
    }
}

/// This server writes its log through the page cache in blocks smaller than a page. When it overwrites a part of a page
/// that is not cached, the kernel must first read the page.
#[dyno_test(servers(&["mysql@5.6.24"]))]
fn a_server_reads_no_log_while_it_writes_once_the_log_is_cached(server: &mut Server) {
    server.query("CREATE TABLE t (id INT PRIMARY KEY, k CHAR(200))").unwrap();
    server.query("INSERT INTO t VALUES (1, '')").unwrap();
    for entry in fs::read_dir(&server.access().datadir).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("ib_logfile") {
            let log = File::open(path).unwrap();
            // The pages are written to the disk first, because the kernel drops only clean pages from its cache.
            log.sync_all().unwrap();
            rustix::fs::fadvise(&log, 0, None, Advice::DontNeed).unwrap();
        }
    }
    server.read_log().unwrap();
    let before = bytes_read(server);
    for number in 0..UPDATES {
        server.query(&format!("UPDATE t SET k = '{number}' WHERE id = 1")).unwrap();
    }
    let bytes = bytes_read(server) - before;
    assert!(bytes < 10 * PAGE_BYTES, "{bytes} bytes were read during {UPDATES} updates");
}

/// Bytes that the kernel has fetched from storage for a server's process (proc(5), `io`).
fn bytes_read(server: &Server) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/io", server.access().pid)).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap();
    line.parse().unwrap()
}

fn is_postgres(server: &Server) -> bool {
    server.access().engine == "postgres"
}

fn quote(server: &Server) -> &'static str {
    if is_postgres(server) { "\"" } else { "`" }
}

/// The number in the last column of a statement's only row.
fn count(server: &Server, sql: &str) -> u64 {
    let rows = server.query(sql).unwrap().rows;
    let number = rows.first().and_then(|row| row.last()?.as_deref());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
