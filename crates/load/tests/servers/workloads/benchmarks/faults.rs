//! Faults and bad input of the workloads of other benchmarks. Each fault ends with words that say what is wrong.

use std::sync::Arc;

use dyno_engine::Installation;
use dyno_engine::testing::{confined, start_inside};
use dyno_host::{Confined, Confinement};
use dyno_load::{Job, Protocol};
use dyno_testing::dyno_test;

use super::{SERVERS, Subject, on, on_sqlite};
use crate::bench::{run, with_options};

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
#[dyno_test(on(SERVERS))]
fn ibench_tells_when_its_rows_are_gone(subject: &Subject) {
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
#[dyno_test(on(&["mariadb@10.11", "mysql@5.6.24", "mysql@9.7.4"]))]
fn ibench_tells_of_a_full_table(subject: &Subject) {
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

#[dyno_test(on_sqlite)]
fn ibench_tells_of_a_full_database(subject: &Subject) {
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

/// The server either reports that the volume is full, or ends because it has no space to undo the rows.
#[dyno_test(confined(&["mariadb@10.11", "postgres@18.4"], volume))]
fn ibench_tells_of_a_full_volume(installation: &Installation, system: &'static str) {
    // With a larger log, PostgreSQL would end because it has no space for the log.
    let small_log: &[_] = &[("max_wal_size", "64MB"), ("min_wal_size", "32MB")];
    let settings = if system == "postgres@18.4" { small_log } else { &[] };
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
#[dyno_test(on(&["postgres@18.4"]))]
fn tprocc_tells_of_a_server_without_the_language_of_its_procedures(subject: &Subject) {
    subject.ask("DROP EXTENSION plpgsql");
    let refused = failure(tprocc(subject, "prepare", &[]));
    assert!(refused.contains("tprocc: the server cannot make the procedure tprocc_"), "{refused}");
    assert!(refused.contains("language \"plpgsql\" does not exist"), "{refused}");
    statements_do_it(subject);
}

/// A server that accepts procedures only in another dialect cannot create them.
#[dyno_test(on(&["mariadb@10.11"]))]
fn tprocc_tells_of_a_server_with_another_language_for_procedures(subject: &Subject) {
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
