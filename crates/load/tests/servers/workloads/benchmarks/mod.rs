//! The workloads of other benchmarks on each database: pgbench's transactions, the core workloads of YCSB, the
//! insert benchmark, TPC-C by stored procedures, and CH-benCHmark.

mod ch;
mod faults;
mod ycsb;

use dyno_engine::Server;
use dyno_engine::testing::server_test;
use dyno_load::{Address, Job, Protocol, Target, builtin_workload};
use dyno_testing::{Trial, dyno_test};

use super::pgbench;
use crate::bench::{job_on, run, target, with_options};

const EVENTS: u64 = 100;

/// A database, and the storage engine of its tables.
struct Subject {
    target: Target,
    storage_engine: Option<&'static str>,
}

impl Subject {
    fn of(server: &Server, system: &'static str) -> Self {
        let storage_engine = system.split_once('/').map(|(_, engine)| engine);
        let mut target = target(server);
        if storage_engine == Some("rocksdb") {
            // At its default isolation level, MyRocks refuses to change rows that have changed since the snapshot.
            target.on_connect = vec!["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".to_owned()];
        }
        Self { target, storage_engine }
    }

    fn sqlite(folder: &tempfile::TempDir) -> Self {
        let file = Address::File(folder.path().join("test.db"));
        Self { target: Target::new(Protocol::Sqlite, vec![file]), storage_engine: None }
    }

    /// A job of a built-in workload. Its script begins with the text `before`.
    fn builtin(&self, name: &str, command: &str, before: &str) -> Job {
        let source = [before, builtin_workload(name).expect("a built-in workload")].concat();
        let job = job_on(self.target.clone(), name, &source, command);
        let Some(engine) = self.storage_engine else { return job };
        let job = with_options(job, &[("mysql_storage_engine", engine)]);
        // MyRocks has no foreign keys.
        if ["tprocc", "ch"].contains(&name) { with_options(job, &[("use_fk", "0")]) } else { job }
    }

    /// Executes a statement on the database.
    fn ask(&self, sql: &str) {
        let source = format!(
            "function go() local con = sysbench.sql.driver():connect() con:query([[{sql}]]) con:disconnect() end\n\
             sysbench.cmdline.commands = {{ go = {{ go }} }}"
        );
        run(job_on(self.target.clone(), "ask", &source, "go")).success();
    }
}

/// The servers on which each of these workloads runs. They also run on SQLite, if it can run them.
pub(super) const SERVERS: &[&str] =
    &["mariadb@10.11", "mysql@5.6.24", "postgres@18.4", "mysql@9.7.4", "mariadb@10.11/rocksdb"];

/// Returns a maker, which makes a test for each of the given systems.
fn on(systems: &'static [&'static str]) -> impl Fn(&str, fn(&Subject)) -> Vec<Trial> {
    move |name, test| {
        let on_server = |system: &&'static str| {
            let system = *system;
            server_test(name, system, move |server| test(&Subject::of(server, system)))
        };
        systems.iter().map(on_server).collect()
    }
}

/// Makes a test on a file of SQLite, which needs no server.
fn on_sqlite(name: &str, test: fn(&Subject)) -> Vec<Trial> {
    let run = move || {
        let folder = tempfile::tempdir()?;
        test(&Subject::sqlite(&folder));
        Ok(())
    };
    vec![Trial::test(format!("{name} sqlite"), run)]
}

/// Makes a test for each of [`SERVERS`], and one for SQLite.
fn on_each_database(name: &str, test: fn(&Subject)) -> Vec<Trial> {
    let mut tests = on(SERVERS)(name, test);
    tests.extend(on_sqlite(name, test));
    tests
}

#[dyno_test(on_each_database)]
fn pgbench_scripts_run_as_text_and_prepared(subject: &Subject) {
    pgbench::plain(&subject.target, &["simple", "prepared"]);
}

#[dyno_test(on_each_database)]
fn the_sums_of_tpcb_stay_equal(subject: &Subject) {
    let tpcb = |command: &str| subject.builtin("tpcb", command, "");
    assert_eq!(run(tpcb("prepare")).success().counts.rows, 100_011);
    let mut transactions = tpcb("run");
    (transactions.connections, transactions.events) = (4, Some(EVENTS));
    let counts = run(transactions).success().counts;
    // One connection also reads the scale. An update by 0 is not a write.
    let statements = (counts.reads, counts.writes + counts.others);
    assert_eq!((counts.events, statements), (EVENTS, (EVENTS + 1, 6 * EVENTS)));
    run(tpcb("check")).success();
    subject.ask("UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 3");
    let failure = run(tpcb("check")).failure.expect("a violation");
    assert!(failure.contains("the balances of tellers add up to "), "{failure}");
    let failure = run(with_options(tpcb("run"), &[("scale", "2")])).failure.expect("a refusal");
    assert!(failure.contains("tpcb was prepared with --scale=1"), "{failure}");
    run(tpcb("cleanup")).success();
}

const QUEUE: [(&str, &str); 2] = [("tables", "2"), ("table_size", "2000")];

#[dyno_test(on_each_database)]
fn ibench_keeps_its_rows(subject: &Subject) {
    let ibench = |command: &str, options: &[(&str, &str)]| {
        with_options(with_options(subject.builtin("ibench", command, ""), &QUEUE), options)
    };
    let run_events = |options: &[(&str, &str)], connections: u32, events: u64| {
        run(Job { connections, events: Some(events), ..ibench("run", options) }).success().counts
    };
    let without_indexes = [("create_secondary", "off")];
    assert_eq!(run(ibench("prepare", &without_indexes)).success().counts.rows, 4000);
    for _ in 0..2 {
        assert_eq!(run_events(&[("action", "index")], 1, 2).events, 2, "a step may be run again");
    }
    for (rows, connections) in [("50", 2), ("5", 1)] {
        let counts = run_events(&[("rows_per_commit", rows)], connections, 40);
        assert_eq!((counts.events, counts.writes, counts.errors), (40, 80, 0), "{rows}");
        run(ibench("check", &[("rows_per_commit", rows)])).success();
    }
    // If the rows have more than half a megabyte, they are sent by two statements in one transaction.
    let wide = [("rows_per_commit", "400"), ("data_length_min", "2000"), ("data_length_max", "2000")];
    let counts = run_events(&wide, 1, 2);
    assert_eq!((counts.events, counts.writes, counts.others), (2, 6, 4));
    run(ibench("check", &[("rows_per_commit", "1")])).success();
    for action in ["range", "point"] {
        let counts = run_events(&[("action", action)], 3, EVENTS);
        assert_eq!((counts.events, counts.writes), (EVENTS, 0), "{action}");
        assert!(counts.reads >= EVENTS, "{action}: {}", counts.reads);
    }
    assert_eq!(run_events(&[("action", "settle")], 2, 2).events, 2);
    let failure = |options: &[(&str, &str)], connections: u32| {
        let job = Job { connections, events: Some(1), ..ibench("run", options) };
        run(job).failure.expect("a refusal")
    };
    assert!(failure(&[], 3).contains("a table has one writer; 3 writers need --tables=3"));
    assert!(failure(&[("action", "read")], 1).contains("action is one of write, range, point"));
    subject.ask(
        "DELETE FROM purchases2 WHERE transactionid = (SELECT m FROM
          (SELECT MAX(transactionid) - 10 AS m FROM purchases2) AS x)",
    );
    let violation = run(ibench("check", &[])).failure.expect("a violation");
    assert!(violation.contains("purchases2 has 1999 rows from"), "{violation}");
    run(ibench("cleanup", &[])).success();
}

#[dyno_test(on_sqlite)]
fn tprocc_is_refused_on_a_database_without_procedures(subject: &Subject) {
    let failure = run(subject.builtin("tprocc", "prepare", "")).failure.expect("a refusal");
    assert!(failure.contains("tprocc needs stored procedures, which SQLite does not have"), "{failure}");
}

#[dyno_test(on(SERVERS))]
fn the_conditions_of_tpcc_hold_after_procedures(subject: &Subject) {
    const TRANSACTIONS: u64 = 400;
    let tprocc = |command: &str, options: &[(&str, &str)]| {
        let common = [("scale", "1"), ("trx_level", "RC")];
        with_options(with_options(subject.builtin("tprocc", command, ""), &common), options)
    };
    let prepare = Job { connections: 2, ..tprocc("prepare", &[]) };
    run(prepare).success();
    for procedures in ["on", "off"] {
        let transactions = Job {
            connections: 4,
            events: Some(TRANSACTIONS),
            ..tprocc("run", &[("procedures", procedures)])
        };
        let story = run(transactions);
        let text: Vec<&str> = story.printed.iter().flat_map(|text| text.lines()).map(str::trim).collect();
        let line = text.iter().find(|line| line.contains("NOPM")).expect("a line with NOPM");
        let new_orders: f64 = line.split(' ').nth(1).expect("a number").parse().expect("a number");
        // 45 of 100 transactions are new orders. The share may differ by five standard deviations.
        let share = new_orders / TRANSACTIONS as f64;
        assert!((share - 0.45).abs() < 0.125, "{procedures}: {line}");
        let counts = story.success().counts;
        assert_eq!(counts.events, TRANSACTIONS, "{procedures}");
        let statements = counts.reads + counts.writes + counts.others;
        // With procedures, a transaction is one call, and a few statements roll back or read the scale. Without
        // procedures, a transaction has about 25 statements.
        let is_called = statements < 2 * TRANSACTIONS;
        assert_eq!(is_called, procedures == "on", "{procedures}: {statements}");
        run(tprocc("check", &[])).success();
    }
    run(tprocc("cleanup", &[])).success();
}
