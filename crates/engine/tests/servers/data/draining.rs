//! Dyno waits for pending writes of real servers, and leaves the servers' settings as they were.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use dyno_engine::testing::{Signal, send, servers};
use dyno_engine::{DrainEnding, DrainError, DrainLimits, DrainReport, Drained, Family, Server, drain};
use dyno_testing::dyno_test;

use crate::leftovers::wait_until;
use crate::{ALL_VERSIONS, OTHER_VERSIONS, filtered};

const INNODB: &[&str] = &["mariadb@10.11/innodb", "mysql@5.6.24/innodb"];
const DIRTY: &str = "Innodb_buffer_pool_pages_dirty";

fn is_postgres(version: &str) -> bool {
    version.starts_with("postgres")
}

#[dyno_test(servers(&["mariadb@10.11/rocksdb"]))]
fn myrocks_has_its_memtables_flushed_and_its_levels_in_shape(server: &mut Server) {
    make_rows(server);
    let report = run(server, Some("rocksdb"), 60.0, false).unwrap();
    assert!(report.is_complete(), "{report:?}");
    let entries = of(&report, "entries in memtables");
    assert!(entries.before > 4000.0 && entries.after < 1.0, "{report:?}");
    check_rows(server);
}

#[dyno_test(servers(&["mariadb@10.11/aria"]))]
fn aria_has_its_tables_in_files(server: &mut Server) {
    make_rows(server);
    let report = run(server, Some("aria"), 60.0, false).unwrap();
    assert!(report.is_complete(), "{report:?}");
    assert!(of(&report, "Aria_pagecache_blocks_not_flushed").before > 16.0, "{report:?}");
    check_rows(server);
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn the_vacuum_is_called_off_when_the_wait_is_stopped(server: &mut Server) {
    make_rows(server);
    // A lock blocks the vacuum, so that it still runs when the wait ends.
    let mut locker = server.connect(std::time::Duration::from_secs(20)).unwrap();
    locker.query("BEGIN").unwrap();
    locker.query("LOCK TABLE rows_of_many").unwrap();
    let report = run(server, None, 0.5, false).unwrap();
    assert_eq!(report.ending, DrainEnding::OutOfTime, "{report:?}");
    let vacuums = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'VACUUM%'";
    assert_eq!(server.query(vacuums).unwrap().rows[0][0].as_deref(), Some("0"));
}

fn run(
    server: &Server,
    storage_engine: Option<&str>,
    seconds_max: f64,
    stop: bool,
) -> Result<DrainReport, DrainError> {
    let family = match server.access().engine.as_str() {
        "postgres" => Family::Postgres,
        "mysql" => Family::Mysql,
        _ => Family::Mariadb,
    };
    let stop = AtomicBool::new(stop);
    let limits = DrainLimits { seconds_max, stop: &stop, may_set: true };
    drain(family, server.access(), storage_engine, &limits, &mut |_| ())
}

fn of<'a>(report: &'a DrainReport, name: &str) -> &'a Drained {
    report.amounts.iter().find(|amount| amount.name == name).unwrap()
}

/// Doubles the rows of a table until there are 4096, and updates all rows.
fn make_rows(server: &Server) {
    server.query("CREATE TABLE rows_of_many (id INT PRIMARY KEY, filler VARCHAR(500))").unwrap();
    server.query("INSERT INTO rows_of_many VALUES (0, repeat('x', 500))").unwrap();
    for doubling in 0..12 {
        let next = 1 << doubling;
        server
            .query(&format!("INSERT INTO rows_of_many SELECT id + {next}, filler FROM rows_of_many"))
            .unwrap();
    }
    server.query("UPDATE rows_of_many SET filler = repeat('y', 500)").unwrap();
}

fn check_rows(server: &Server) {
    let count = server.query("SELECT count(*) FROM rows_of_many WHERE filler LIKE 'yy%'").unwrap();
    assert_eq!(count.rows[0][0].as_deref(), Some("4096"));
}

fn settings(server: &Server) -> BTreeMap<String, String> {
    server.variables().unwrap().into_iter().filter(|(name, _)| name.starts_with("innodb_")).collect()
}

#[dyno_test(servers(INNODB))]
#[dyno_test(servers(filtered(OTHER_VERSIONS, |version| !is_postgres(version))))]
fn innodb_has_its_dirty_pages_written_and_its_settings_back(server: &mut Server) {
    make_rows(server);
    let before = settings(server);
    let report = run(server, Some("innodb"), 60.0, false).unwrap();
    assert!(report.is_complete(), "{report:?}");
    let dirty = of(&report, DIRTY);
    assert!(dirty.before > 100.0 && dirty.after <= 16.0, "{report:?}");
    assert!(of(&report, "checkpoint age (bytes)").after <= 65536.0, "{report:?}");
    assert!(report.set_meanwhile.iter().any(|(name, _)| name == "innodb_io_capacity"), "{report:?}");
    assert_eq!(settings(server), before);
    check_rows(server);
}

#[dyno_test(servers(filtered(ALL_VERSIONS, is_postgres)))]
fn postgres_has_its_dead_rows_removed_and_a_checkpoint_made(server: &mut Server) {
    make_rows(server);
    let report = run(server, None, 60.0, false).unwrap();
    assert!(report.is_complete(), "{report:?}");
    let wal = of(&report, "WAL since checkpoint (bytes)");
    assert!(wal.before > 100_000.0 && wal.after < 65536.0, "{report:?}");
    let vacuumed = "SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 'rows_of_many'";
    // Before version 15, a separate process of the server collects the counts, so they change with a delay.
    wait_until("the vacuum is counted", || {
        server.query(vacuumed).unwrap().rows[0][0].as_deref() == Some("1")
    });
    check_rows(server);
}

#[dyno_test(servers(INNODB))]
fn a_server_has_its_settings_back_when_the_wait_is_stopped(server: &mut Server) {
    make_rows(server);
    let before = settings(server);
    let report = run(server, None, 60.0, true).unwrap();
    assert_eq!(report.ending, DrainEnding::Stopped);
    assert_eq!(settings(server), before);
}

#[dyno_test(servers(INNODB))]
fn the_wait_fails_when_the_server_is_killed(server: &mut Server) {
    make_rows(server);
    let stop = AtomicBool::new(false);
    // With changed settings, the server could write so fast that nothing is left to write when it is killed. So the
    // drain may not change any.
    let limits = DrainLimits { seconds_max: 60.0, stop: &stop, may_set: false };
    let pid = server.access().pid;
    let error = drain(Family::Mysql, server.access(), None, &limits, &mut |_| {
        send(pid, Signal::KILL);
        wait_until("the server is dead", || !server.is_alive());
    })
    .unwrap_err();
    assert!(matches!(error, DrainError::Client(_)), "{error}");
}
