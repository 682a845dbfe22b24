//! The workloads of other benchmarks: pgbench's transactions, the core workloads of YCSB, the insert benchmark, TPC-C by stored
//! procedures, and CH-benCHmark.

mod ch;
mod faults;

use dyno_engine::Server;
use dyno_engine::testing::{Trial, server_test};
use dyno_load::{Address, Job, Protocol, Target, builtin_workload};

use crate::bench::{job_on, run, target, with_options};

const EVENTS: u64 = 100;

/// A database, and how its tables are made.
struct Subject {
    target: Target,
    storage_engine: Option<&'static str>,
}

impl Subject {
    fn of(server: &Server, system: &'static str) -> Self {
        let storage_engine = system.split_once('/').map(|(_, engine)| engine);
        let mut target = target(server);
        if storage_engine == Some("rocksdb") {
            // At its default level, MyRocks refuses to change what has changed since the snapshot.
            target.on_connect = vec!["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".to_owned()];
        }
        Self { target, storage_engine }
    }

    fn sqlite(folder: &tempfile::TempDir) -> Self {
        let file = Address::File(folder.path().join("test.db"));
        Self { target: Target::new(Protocol::Sqlite, vec![file]), storage_engine: None }
    }

    /// A job of a built-in workload, after a text that its script begins with.
    fn builtin(&self, name: &str, command: &str, before: &str) -> Job {
        let source = [before, builtin_workload(name).expect("a built-in workload")].concat();
        let job = job_on(self.target.clone(), name, &source, command);
        let Some(engine) = self.storage_engine else { return job };
        let job = with_options(job, &[("mysql_storage_engine", engine)]);
        // MyRocks has no foreign keys.
        if ["tprocc", "ch"].contains(&name) { with_options(job, &[("use_fk", "0")]) } else { job }
    }
}

pub(crate) fn tests(system: &'static str) -> Vec<Trial> {
    let test = |name: &str, check: fn(&Subject)| {
        server_test(name, system, move |server: &mut Server| check(&Subject::of(server, system)))
    };
    let mut tests = vec![
        test("the sums of tpcb stay equal", sums),
        test("ycsb reads what is there", records),
        test("ibench keeps its rows", queue),
        test("the conditions of TPC-C hold after procedures", procedures),
        test("ch answers as SQLite does", ch::answers),
    ];
    tests.extend(faults::tests(system));
    tests
}

/// The tests that run on SQLite, which needs no server.
pub(crate) fn sqlite_tests() -> Vec<Trial> {
    let on_file = |check: fn(&Subject)| {
        let folder = tempfile::tempdir().expect("a folder");
        check(&Subject::sqlite(&folder));
        Ok(())
    };
    vec![
        Trial::test("the sums of tpcb stay equal: sqlite", move || on_file(sums)),
        Trial::test("ycsb reads what is there: sqlite", move || on_file(records)),
        Trial::test("ibench keeps its rows: sqlite", move || on_file(queue)),
        Trial::test("ch runs transactions and queries beside each other: sqlite", move || {
            on_file(ch::beside)
        }),
        Trial::test("ibench tells of a full database: sqlite", move || on_file(faults::full_file)),
        Trial::test("tprocc needs stored procedures: sqlite", move || {
            on_file(|subject| {
                let failure = run(subject.builtin("tprocc", "prepare", "")).failure.expect("a refusal");
                assert!(failure.contains("stored procedures, which SQLite does not have"), "{failure}");
            })
        }),
        Trial::test("popularity falls with the rank", || {
            popularity();
            Ok(())
        }),
    ]
}

fn sums(subject: &Subject) {
    let tpcb = |command: &str| subject.builtin("tpcb", command, "");
    assert_eq!(run(tpcb("prepare")).success().counts.rows, 100_011);
    let mut transactions = tpcb("run");
    (transactions.connections, transactions.events) = (4, Some(EVENTS));
    let counts = run(transactions).success().counts;
    // One connection asks for the scale. An update by 0 is not a write.
    let statements = (counts.reads, counts.writes + counts.others);
    assert_eq!((counts.events, statements), (EVENTS, (EVENTS + 1, 6 * EVENTS)));
    run(tpcb("check")).success();
    let spoil = "function event() local con = sysbench.sql.driver():connect()
        con:query('UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 3') con:disconnect() end";
    let mut spoiled = job_on(subject.target.clone(), "spoil", spoil, "run");
    spoiled.events = Some(1);
    run(spoiled).success();
    let failure = run(tpcb("check")).failure.expect("a violation");
    assert!(failure.contains("the balances of tellers add up to "), "{failure}");
    let failure = run(with_options(tpcb("run"), &[("scale", "2")])).failure.expect("a refusal");
    assert!(failure.contains("tpcb was prepared with --scale=1"), "{failure}");
    run(tpcb("cleanup")).success();
}

/// Makes a script's prepared statements print their text and their number of rows.
const TELL: &str = r#"
local real = require
function require(name)
  local module = real(name)
  if name ~= "sql.prepared" then
    return module
  end
  return function(con, sql, ...)
    local it = module(con, sql, ...)
    local statement = it.statement
    it.statement = { execute = function()
      local result = statement:execute()
      print((sql:find("LIMIT") and "SCAN" or sql:match("^%u+")) .. " " .. (result and result.nrows or 0))
    end }
    return it
  end
end
"#;

const SMALL: [(&str, &str); 3] = [("recordcount", "500"), ("fieldlength", "20"), ("maxscanlength", "10")];

fn records(subject: &Subject) {
    let ycsb = |command: &str| with_options(subject.builtin("ycsb", command, TELL), &SMALL);
    run(ycsb("prepare")).success();
    let kinds: [(&str, &[&str]); 6] = [
        ("a", &["SELECT", "UPDATE"]),
        ("b", &["SELECT", "UPDATE"]),
        ("c", &["SELECT"]),
        ("D", &["SELECT", "INSERT"]),
        ("e", &["SCAN", "INSERT"]),
        ("f", &["SELECT", "UPDATE"]),
    ];
    // Twice: the second run must not insert what the first has inserted.
    for (core, expected) in kinds.into_iter().chain(kinds) {
        let mut operations = with_options(ycsb("run"), &[("core", core)]);
        (operations.connections, operations.events) = (4, Some(EVENTS));
        let story = run(operations);
        let lines: Vec<&str> = story.printed.iter().flat_map(|text| text.lines()).map(str::trim).collect();
        for line in &lines {
            let (kind, rows) = line.split_once(' ').expect("a kind and a number");
            let rows: u64 = rows.parse().expect("a number");
            assert!(expected.contains(&kind), "{core}: {line}");
            let fits = match kind {
                "SELECT" => rows == 1,
                "SCAN" => (1..=10).contains(&rows),
                _ => rows == 0,
            };
            assert!(fits, "{core}: {line}");
        }
        for kind in expected {
            assert!(lines.iter().any(|line| line.starts_with(kind)), "{core}: no {kind}");
        }
        let counts = story.success().counts;
        assert_eq!((counts.events, counts.errors), (EVENTS, 0), "{core}");
    }
    run(ycsb("check")).success();
    let failure = run(with_options(ycsb("check"), &[("fieldlength", "21")])).failure.expect("a violation");
    assert!(failure.contains("ycsb: fields that are not as they were written: "), "{failure}");
    let failure = run(with_options(ycsb("run"), &[("core", "g")])).failure.expect("a refusal");
    assert!(failure.contains("core is one of a to f, not g"), "{failure}");
    run(ycsb("cleanup")).success();
}

/// Draws numbers and compares their shares with r^-0.99 over the sum of all.
fn popularity() {
    let source = "
        function event()
          local draw, n, of = require('ycsb.zipf').of(0.99), 1000, {}
          for _ = 1, 200000 do
            local number = draw(n)
            of[number] = (of[number] or 0) + 1
          end
          local sum = 0
          for rank = 1, n do sum = sum + rank ^ -0.99 end
          for _, rank in ipairs({ 1, 2, 3, 10, 100, 1000 }) do
            local expected = 200000 * rank ^ -0.99 / sum
            assert(math.abs((of[rank] or 0) - expected) < 5 * math.sqrt(expected),
              rank .. ': ' .. (of[rank] or 0) .. ' in place of ' .. expected)
          end
        end";
    let folder = tempfile::tempdir().expect("a folder");
    let file = Address::File(folder.path().join("test.db"));
    let mut job = job_on(Target::new(Protocol::Sqlite, vec![file]), "zipf", source, "run");
    job.events = Some(1);
    run(job).success();
}

const QUEUE: [(&str, &str); 2] = [("tables", "2"), ("table_size", "2000")];

fn queue(subject: &Subject) {
    let ibench = |command: &str, options: &[(&str, &str)]| {
        with_options(with_options(subject.builtin("ibench", command, ""), &QUEUE), options)
    };
    let run_events = |options: &[(&str, &str)], connections: u32, events: u64| {
        run(Job { connections, events: Some(events), ..ibench("run", options) }).success().counts
    };
    let without_indexes = [("create_secondary", "off")];
    assert_eq!(run(ibench("prepare", &without_indexes)).success().counts.rows, 4000);
    assert_eq!(run_events(&[("action", "index")], 1, 2).events, 2);
    for (rows, connections) in [("50", 2), ("5", 1)] {
        let counts = run_events(&[("rows_per_commit", rows)], connections, 40);
        assert_eq!((counts.events, counts.writes, counts.errors), (40, 80, 0), "{rows}");
        run(ibench("check", &[("rows_per_commit", rows)])).success();
    }
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
    let spoil = "function event() local con = sysbench.sql.driver():connect()
        con:query([[DELETE FROM purchases2 WHERE transactionid = (SELECT m FROM
          (SELECT MAX(transactionid) - 10 AS m FROM purchases2) AS x)]]) con:disconnect() end";
    run(Job { events: Some(1), ..job_on(subject.target.clone(), "spoil", spoil, "run") }).success();
    let violation = run(ibench("check", &[])).failure.expect("a violation");
    assert!(violation.contains("purchases2 has 1999 rows from"), "{violation}");
    run(ibench("cleanup", &[])).success();
}

fn procedures(subject: &Subject) {
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
        // 45 of 100, within five standard deviations.
        let share = new_orders / TRANSACTIONS as f64;
        assert!((share - 0.45).abs() < 0.125, "{procedures}: {line}");
        let counts = story.success().counts;
        assert_eq!(counts.events, TRANSACTIONS, "{procedures}");
        let statements = counts.reads + counts.writes + counts.others;
        // A call each, and some for a rollback or the scale; or about 25 statements.
        let is_called = statements < 2 * TRANSACTIONS;
        assert_eq!(is_called, procedures == "on", "{procedures}: {statements}");
        run(tprocc("check", &[])).success();
    }
    run(tprocc("cleanup", &[])).success();
}
