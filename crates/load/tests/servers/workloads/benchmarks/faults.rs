//! Faults and bad input of the workloads of other benchmarks. Each fault ends with words that say what is wrong.

use std::sync::Arc;

use dyno_engine::testing::{Trial, confined_test, server_test, start_inside};
use dyno_engine::{Installation, Server};
use dyno_host::{Confined, Confinement};
use dyno_load::{Job, Protocol};

use super::Subject;
use crate::bench::{run, with_options};

pub(super) fn tests(system: &'static str) -> Vec<Trial> {
    let test = |name: &str, check: fn(&Subject)| {
        server_test(name, system, move |server: &mut Server| check(&Subject::of(server, system)))
    };
    let mut tests = vec![test("ibench tells when its rows are gone", overtaken)];
    if system.starts_with("postgres") {
        tests.push(test("tprocc tells what makes no procedures", without_language));
    }
    if system == "mariadb@10.11" {
        tests.push(test("tprocc tells what makes no procedures", in_another_language));
    }
    if system.starts_with("mysql") || system == "mariadb@10.11" {
        tests.push(test("ibench tells of a full table", full_table));
    }
    tests
}

/// Tests that need the right to mount a volume.
pub(super) fn volume_tests() -> Vec<Trial> {
    let test = |system: &'static str, settings: &'static [(&str, &str)]| {
        confined_test("ibench tells of a full volume", system, &volume(), move |installation| {
            full_volume(installation, system, settings);
        })
    };
    // With a larger log, PostgreSQL would end because it has no space for the log.
    let small_log: &[_] = &[("max_wal_size", "64MB"), ("min_wal_size", "32MB")];
    vec![test("mariadb@10.11", &[]), test("postgres@18.4", small_log)]
}

fn volume() -> Confinement {
    Confinement { volume_bytes: Some(200 << 20), ..Confinement::default() }
}

fn ibench(subject: &Subject, command: &str, options: &[(&str, &str)]) -> Job {
    let job = with_options(subject.builtin("ibench", command, ""), &[("table_size", "500")]);
    with_options(Job { events: (command == "run").then_some(20), ..job }, options)
}

fn failure(job: Job) -> String {
    run(job).failure.expect("a failure")
}

/// Another client deletes rows. It first deletes some rows, so that the workload's own deletes find fewer rows. Then it
/// deletes all rows.
fn overtaken(subject: &Subject) {
    run(ibench(subject, "prepare", &[])).success();
    subject.ask("DELETE FROM purchases1 WHERE transactionid <= 400");
    let counts = run(ibench(subject, "run", &[])).success().counts;
    assert_eq!((counts.events, counts.errors), (20, 0), "it goes on with the rows that are left");
    run(ibench(subject, "check", &[])).success();
    subject.ask("DELETE FROM purchases1");
    let violation = failure(ibench(subject, "check", &[]));
    assert!(violation.contains("purchases1 has 0 rows from 0 to -1, where 500 rows"), "{violation}");
    for action in ["write", "point"] {
        let empty = failure(ibench(subject, "run", &[("action", action)]));
        assert!(empty.contains("ibench: purchases1 is empty; run prepare first"), "{action}: {empty}");
    }
    subject.ask("DROP TABLE purchases1");
    let gone = failure(ibench(subject, "run", &[]));
    assert!(gone.contains("purchases1"), "{gone}");
}

/// A table in memory has a size limit, so it can be full like a table on a full volume.
fn full_table(subject: &Subject) {
    let in_memory = [("mysql_storage_engine", "memory"), ("create_secondary", "off")];
    let full = failure(ibench(subject, "prepare", &[&in_memory[..], &[("table_size", "20000")]].concat()));
    assert!(full.contains("The table 'purchases1' is full"), "{full}");
    run(ibench(subject, "cleanup", &[])).success();
    run(ibench(subject, "prepare", &in_memory)).success();
    let many = [&in_memory[..], &[("table_size", "1000000"), ("rows_per_commit", "1000")]].concat();
    let full = failure(ibench(subject, "run", &many));
    assert!(full.contains("The table 'purchases1' is full"), "{full}");
    run(ibench(subject, "cleanup", &[])).success();
}

pub(super) fn full_file(subject: &Subject) {
    let mut target = subject.target.clone();
    target.on_connect = vec!["PRAGMA max_page_count = 100".to_owned()];
    let subject = Subject { target, storage_engine: None };
    let full = failure(ibench(&subject, "prepare", &[("table_size", "20000")]));
    assert!(full.contains("database or disk is full"), "{full}");
    run(ibench(&subject, "cleanup", &[])).success();
    run(ibench(&subject, "prepare", &[])).success();
    let full = failure(ibench(&subject, "run", &[("table_size", "1000000"), ("rows_per_commit", "1000")]));
    assert!(full.contains("database or disk is full"), "{full}");
}

/// The server reports that the volume is full. Or it ends, because it has no space to undo the rows.
fn full_volume(installation: &Installation, system: &'static str, settings: &[(&str, &str)]) {
    let parent = tempfile::tempdir().expect("a folder");
    let confined = Arc::new(Confined::create(&volume(), parent.path()).expect("a volume"));
    let server = start_inside(&confined, installation, system, settings);
    let subject = Subject::of(&server, system);
    run(ibench(&subject, "prepare", &[])).success();
    // 400 transactions of 4 MB each.
    let many = [("table_size", "1000000"), ("rows_per_commit", "1000")];
    let large = [("data_length_min", "4000"), ("data_length_max", "4000")];
    let writes = Job { events: Some(400), ..ibench(&subject, "run", &[many, large].concat()) };
    let full = failure(writes);
    let is_told = full.contains("The table 'purchases1' is full") || full.contains("No space left on device");
    let is_seen = server.full_volume().as_deref() == Some("its volume of 200M is full");
    assert!(is_told || is_seen, "{full}\n{}", server.log_tail(20).join("\n"));
}

fn tprocc(subject: &Subject, command: &str, options: &[(&str, &str)]) -> Job {
    with_options(with_options(subject.builtin("tprocc", command, ""), &[("scale", "1")]), options)
}

/// A PostgreSQL server without PL/pgSQL cannot create the procedures.
fn without_language(subject: &Subject) {
    subject.ask("DROP EXTENSION plpgsql");
    let refused = failure(tprocc(subject, "prepare", &[]));
    assert!(refused.contains("tprocc: the server cannot make the procedure tprocc_"), "{refused}");
    assert!(refused.contains("language \"plpgsql\" does not exist"), "{refused}");
    statements_do_it(subject);
}

/// A server that accepts procedures only in another dialect cannot create them.
fn in_another_language(subject: &Subject) {
    assert_eq!(subject.target.driver, Protocol::Mysql);
    let mut target = subject.target.clone();
    target.on_connect = vec!["SET SESSION sql_mode = 'ORACLE'".to_owned()];
    let oracle = Subject { target, storage_engine: None };
    let refused = failure(tprocc(&oracle, "prepare", &[]));
    assert!(refused.contains("tprocc: the server cannot make the procedure tprocc_"), "{refused}");
}

/// The workload also runs without procedures, by single statements, as the error message says.
fn statements_do_it(subject: &Subject) {
    let off = [("procedures", "off"), ("trx_level", "RC")];
    run(tprocc(subject, "prepare", &off)).success();
    let transactions = Job { events: Some(50), ..tprocc(subject, "run", &off) };
    assert_eq!(run(transactions).success().counts.events, 50);
    run(tprocc(subject, "cleanup", &off)).success();
}
