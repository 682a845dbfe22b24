//! Faults and bad input of the workloads of other benchmarks: each ends with words that say what is wrong.

use dyno_engine::Server;
use dyno_engine::testing::{Trial, server_test};
use dyno_load::{Job, Protocol};

use super::Subject;
use crate::bench::{job_on, run, with_options};

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

fn ibench(subject: &Subject, command: &str, options: &[(&str, &str)]) -> Job {
    let job = with_options(subject.builtin("ibench", command, ""), &[("table_size", "500")]);
    with_options(Job { events: (command == "run").then_some(20), ..job }, options)
}

fn ask(subject: &Subject, sql: &str) {
    let source = format!(
        "function go() local con = sysbench.sql.driver():connect() con:query([[{sql}]]) con:disconnect() end\n\
         sysbench.cmdline.commands = {{ go = {{ go }} }}"
    );
    run(job_on(subject.target.clone(), "ask", &source, "go")).success();
}

fn failure(job: Job) -> String {
    run(job).failure.expect("a failure")
}

/// Somebody else has deleted rows: some, so that the table's own deletes find fewer, and all.
fn overtaken(subject: &Subject) {
    run(ibench(subject, "prepare", &[])).success();
    ask(subject, "DELETE FROM purchases1 WHERE transactionid <= 400");
    let counts = run(ibench(subject, "run", &[])).success().counts;
    assert_eq!((counts.events, counts.errors), (20, 0), "it goes on with the rows that are left");
    run(ibench(subject, "check", &[])).success();
    ask(subject, "DELETE FROM purchases1");
    let violation = failure(ibench(subject, "check", &[]));
    assert!(violation.contains("purchases1 has 0 rows from 0 to -1, where 500 rows"), "{violation}");
    for action in ["write", "point"] {
        let empty = failure(ibench(subject, "run", &[("action", action)]));
        assert!(empty.contains("ibench: purchases1 is empty; run prepare first"), "{action}: {empty}");
    }
    ask(subject, "DROP TABLE purchases1");
    let gone = failure(ibench(subject, "run", &[]));
    assert!(gone.contains("purchases1"), "{gone}");
}

/// A table in memory has a limit, as one on a full volume.
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

fn tprocc(subject: &Subject, command: &str, options: &[(&str, &str)]) -> Job {
    with_options(with_options(subject.builtin("tprocc", command, ""), &[("scale", "1")]), options)
}

/// PostgreSQL without PL/pgSQL.
fn without_language(subject: &Subject) {
    ask(subject, "DROP EXTENSION plpgsql");
    let refused = failure(tprocc(subject, "prepare", &[]));
    assert!(refused.contains("tprocc: the server cannot make the procedure tprocc_"), "{refused}");
    assert!(refused.contains("language \"plpgsql\" does not exist"), "{refused}");
    statements_do_it(subject);
}

/// A server that takes procedures of another dialect only.
fn in_another_language(subject: &Subject) {
    assert_eq!(subject.target.driver, Protocol::Mysql);
    let mut target = subject.target.clone();
    target.on_connect = vec!["SET SESSION sql_mode = 'ORACLE'".to_owned()];
    let oracle = Subject { target, storage_engine: None };
    let refused = failure(tprocc(&oracle, "prepare", &[]));
    assert!(refused.contains("tprocc: the server cannot make the procedure tprocc_"), "{refused}");
}

/// The message says that the statements do the same, and so it is.
fn statements_do_it(subject: &Subject) {
    let off = [("procedures", "off"), ("trx_level", "RC")];
    run(tprocc(subject, "prepare", &off)).success();
    let transactions = Job { events: Some(50), ..tprocc(subject, "run", &off) };
    assert_eq!(run(transactions).success().counts.events, 50);
    run(tprocc(subject, "cleanup", &off)).success();
}
