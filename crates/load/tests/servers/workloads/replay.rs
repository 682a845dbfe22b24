//! Replays of logged traffic: which statements arrive at the server, in which order, and what is counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Job, NotSent, Replay, Replayed, Total};
use dyno_testing::dyno_test;
use dyno_traffic::{Options, import};

use crate::SYSTEMS;
use crate::ask::execute;
use crate::bench::{job, run};

fn is_mysql(system: &str) -> bool {
    !system.starts_with("postgres")
}

/// A logged statement: its time in ms since the log begins, its session, and its text.
type Entry<'a> = (u32, u32, &'a str);

/// The log of a server that received these statements: MySQL's general log, or PostgreSQL's log on standard error.
fn log(is_mysql: bool, entries: &[Entry<'_>]) -> String {
    let line = |(at_ms, session, text): &Entry<'_>| {
        let (second, ms) = (at_ms / 1000, at_ms % 1000);
        if is_mysql {
            let (command, text) =
                text.split_once(": ").filter(|_| text.starts_with('!')).unwrap_or(("!Query", text));
            format!("2026-11-27T10:00:{second:02}.{ms:03}000Z\t{session:5} {}\t{text}\n", &command[1..])
        } else {
            format!("2026-11-27 10:00:{second:02}.{ms:03} UTC [{session}] LOG:  statement: {text}\n")
        }
    };
    entries.iter().map(line).collect()
}

/// Imports a log, and returns the traffic file.
fn traffic(folder: &Path, log: &str) -> PathBuf {
    let (path, out) = (folder.join("server.log"), folder.join("a.traffic"));
    fs::write(&path, log).expect("a log");
    let stop = AtomicBool::new(false);
    let options =
        Options { out: &out, overwrite: true, format: None, redact: false, keep_users: false, stop: &stop };
    import(&[path], &options, &mut |_| ()).expect("a log that is read");
    out
}

/// A job that replays a log.
fn replaying(server: &Server, folder: &Path, log: &str, pace: Option<f64>) -> Job {
    let file = traffic(folder, log);
    let replay = Some(Replay {
        file,
        pace,
        sends_server_statements: false,
        reads_answers: true,
        keeps_order: false,
        keeps_examples: false,
    });
    Job { connections: 2, replay, ..job(server, "traffic", "", "run") }
}

fn replayed(total: Total) -> Replayed {
    *total.replay.expect("a replay")
}

/// Replays these statements, and returns the figures of the replay.
fn replay_all(server: &Server, entries: &[Entry<'_>]) -> Replayed {
    let folder = tempfile::tempdir().expect("a folder");
    let log = log(is_mysql(&server.access().engine), entries);
    replayed(run(replaying(server, folder.path(), &log, None)).success())
}

/// The number of statements of all digests, and the numbers of their errors by code.
fn counted(replayed: &Replayed) -> (u64, BTreeMap<String, u64>) {
    let mut codes: BTreeMap<String, u64> = BTreeMap::new();
    for (code, errors) in replayed.digests.iter().flat_map(|digest| &digest.error_codes) {
        *codes.entry(code.clone()).or_default() += errors;
    }
    (replayed.digests.iter().map(|digest| digest.statements).sum(), codes)
}

/// Runs a test with a table that numbers its rows in the order of their arrival.
fn with_table(server: &Server, test: impl FnOnce()) {
    let id = if is_mysql(&server.access().engine) { "INT AUTO_INCREMENT" } else { "SERIAL" };
    execute(server, &[&format!("CREATE TABLE replayed (id {id} PRIMARY KEY, who INT, n INT)")]);
    test();
    execute(server, &["DROP TABLE replayed"]);
}

/// The rows of the table that [`with_table`] creates: `who` and `n`, in the order of their arrival.
fn rows(server: &Server) -> Vec<(i64, i64)> {
    let found = server.query("SELECT who, n FROM replayed ORDER BY id").expect("rows");
    let number =
        |cell: &Option<String>| cell.as_deref().and_then(|text| text.parse().ok()).expect("a number");
    found.rows.iter().map(|row| (number(&row[0]), number(&row[1]))).collect()
}

#[dyno_test(servers(SYSTEMS))]
fn sessions_keep_the_order_of_their_statements(server: &mut Server) {
    const SESSIONS: u32 = 5;
    const STATEMENTS: u32 = 40;
    with_table(server, || {
        let insert = |who: u32, n: u32| format!("INSERT INTO replayed (who, n) VALUES ({who}, {n})");
        let mut texts: Vec<(u32, u32, String)> = Vec::new();
        for session in 11..11 + SESSIONS {
            texts.push((0, session, "BEGIN".to_owned()));
        }
        for n in 0..STATEMENTS {
            texts.extend((11..11 + SESSIONS).map(|session| (10 + n, session, insert(session, n))));
        }
        for session in 11..11 + SESSIONS {
            texts.push((100, session, "COMMIT".to_owned()));
        }
        let entries: Vec<Entry<'_>> =
            texts.iter().map(|(at_ms, session, text)| (*at_ms, *session, text.as_str())).collect();
        let is_mysql = is_mysql(&server.access().engine);
        let mut log = log(is_mysql, &entries);
        if !is_mysql {
            for n in 0..STATEMENTS {
                let _ = write!(
                    log,
                    "2026-11-27 10:00:01.{n:03} UTC [99] LOG:  execute <unnamed>: INSERT INTO replayed (who, n) VALUES ($1, $2)\n\
                     2026-11-27 10:00:01.{n:03} UTC [99] DETAIL:  Parameters: $1 = '99', $2 = '{n}'\n"
                );
            }
        }
        let sessions = SESSIONS + u32::from(!is_mysql);
        let folder = tempfile::tempdir().expect("a folder");
        for pace in [None, Some(10.0)] {
            let total = run(replaying(server, folder.path(), &log, pace)).success();
            let events = total.counts.events;
            let replayed = replayed(total);
            let inserts = u64::from(sessions * STATEMENTS);
            assert_eq!((replayed.sessions, replayed.sessions_lost), (u64::from(sessions), 0));
            assert_eq!(counted(&replayed), (inserts + 2 * u64::from(SESSIONS), BTreeMap::new()));
            assert_eq!(events, inserts + 2 * u64::from(SESSIONS));
            let changed: u64 = replayed.digests.iter().map(|digest| digest.affected_rows).sum();
            assert_eq!(changed, inserts);
            let rows = rows(server);
            for who in rows.iter().map(|(who, _)| *who) {
                let own: Vec<i64> = rows.iter().filter(|(of, _)| *of == who).map(|(_, n)| *n).collect();
                assert_eq!(own, (0..i64::from(STATEMENTS)).collect::<Vec<_>>(), "session {who}");
            }
            execute(server, &["DELETE FROM replayed"]);
        }
    });
}

/// Each session inserts a row only if another session has inserted the previous row. There are more sessions than
/// connections.
#[dyno_test(servers(SYSTEMS))]
fn a_replay_that_keeps_commits_in_order_finds_the_rows_of_other_sessions(server: &mut Server) {
    const ROWS: u32 = 60;
    with_table(server, || {
        let statement = |n: u32| match n {
            0 => "INSERT INTO replayed (who, n) VALUES (0, 0)".to_owned(),
            n => format!(
                "INSERT INTO replayed (who, n) SELECT {0}, {n} FROM replayed WHERE n = {1}",
                n % 3,
                n - 1
            ),
        };
        let texts: Vec<String> = (0..ROWS).map(statement).collect();
        let entries: Vec<Entry<'_>> =
            (0..).zip(&texts).map(|(n, text)| (10 * n, 11 + n % 3, text.as_str())).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let log = log(is_mysql(&server.access().engine), &entries);
        for pace in [None, Some(10.0)] {
            let mut job = replaying(server, folder.path(), &log, pace);
            job.replay.as_mut().expect("a replay").keeps_order = true;
            let replayed = replayed(run(job).success());
            assert_eq!((counted(&replayed).0, replayed.out_of_order), (u64::from(ROWS), 0));
            let found: Vec<i64> = rows(server).iter().map(|(_, n)| *n).collect();
            assert_eq!(found, (0..i64::from(ROWS)).collect::<Vec<_>>());
            execute(server, &["DELETE FROM replayed"]);
        }
    });
}

/// A replay may be late on a busy host, but never early.
#[dyno_test(servers(SYSTEMS))]
fn statements_are_not_sent_before_they_are_due(server: &mut Server) {
    let folder = tempfile::tempdir().expect("a folder");
    let entries = [(0, 7, "SELECT 1"), (300, 8, "SELECT 2"), (600, 7, "SELECT 3")];
    let log = log(is_mysql(&server.access().engine), &entries);
    for (pace, seconds_min) in [(1.0, 0.6), (0.5, 1.2), (10.0, 0.06)] {
        let total = run(replaying(server, folder.path(), &log, Some(pace))).success();
        assert!(total.seconds >= seconds_min, "{pace}: {}", total.seconds);
        let replayed = replayed(total);
        assert_eq!((counted(&replayed).0, replayed.sessions), (3, 2));
        assert!(replayed.late.exact().is_some(), "two statements waited until they were due");
    }
    let mut ended = replaying(server, folder.path(), &log, Some(0.1));
    ended.seconds = Some(0.5);
    let total = run(ended).success();
    assert_eq!(counted(&replayed(total)).0, 1, "the others are due after the end");
}

#[dyno_test(servers(SYSTEMS))]
fn an_error_is_an_answer_to_a_replayed_statement(server: &mut Server) {
    let replayed = replay_all(
        server,
        &[
            (0, 1, "SELECT nonsense FROM nowhere WHERE a = 1"),
            (1, 1, "SELECT 1"),
            (2, 1, "SELECT nonsense FROM nowhere WHERE a = 2"),
        ],
    );
    let code = if is_mysql(&server.access().engine) { "1146" } else { "42P01" };
    assert_eq!(counted(&replayed), (3, BTreeMap::from([(code.to_owned(), 2)])));
    let failed = replayed.digests.iter().find(|digest| !digest.error_codes.is_empty()).expect("a digest");
    assert_eq!((failed.statements, failed.latency.exact), (2, None), "errors have no latency");
    assert_eq!((replayed.sessions, replayed.sessions_lost), (1, 0));
}

#[dyno_test(servers(SYSTEMS))]
fn a_replay_goes_on_when_the_server_closes_a_session(server: &mut Server) {
    let is_mysql = is_mysql(&server.access().engine);
    let kill =
        if is_mysql { "KILL CONNECTION_ID()" } else { "SELECT pg_terminate_backend(pg_backend_pid())" };
    let entries = [
        (0, 1, kill),
        (1, 1, "SELECT 1"),
        (1, 2, "SELECT 2"),
        (2, 1, "SELECT 3"),
        (3, 2, "SELECT 4"),
        (4, 1, "SELECT 5"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let log = log(is_mysql, &entries);
    for (pace, keeps_order) in [(None, false), (Some(1.0), false), (None, true)] {
        let mut job = replaying(server, folder.path(), &log, pace);
        let replay = job.replay.as_mut().expect("a replay");
        (replay.sends_server_statements, replay.keeps_order) = (true, keeps_order);
        let replayed = replayed(run(job).success());
        assert_eq!((replayed.sessions, replayed.sessions_lost), (2, 1), "{replayed:?}");
        let not_sent = replayed.not_sent.get(&NotSent::Disconnected).copied().unwrap_or_default();
        assert_eq!(counted(&replayed).0 + not_sent, 6, "{replayed:?}");
        assert!(not_sent >= 1, "{replayed:?}");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn what_reaches_beyond_the_database_is_not_replayed(server: &mut Server) {
    let statements: &[&str] = if is_mysql(&server.access().engine) {
        &[
            "SET GLOBAL max_connections = 1",
            "DROP DATABASE dyno",
            "USE other",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
        ]
    } else {
        &["ALTER SYSTEM SET work_mem = '1MB'", "DROP DATABASE dyno", "CREATE ROLE other", "COPY t FROM STDIN"]
    };
    let entries: Vec<Entry<'_>> =
        (0..).zip(statements).map(|(at_ms, text)| (at_ms, 1, *text)).chain([(9, 1, "SELECT 1")]).collect();
    let replayed = replay_all(server, &entries);
    assert_eq!(counted(&replayed), (1, BTreeMap::new()));
    let not_sent: u64 = replayed.not_sent.values().sum();
    assert_eq!((not_sent, replayed.not_sent[&NotSent::ClientData]), (4, 1), "{:?}", replayed.not_sent);
}

#[dyno_test(servers(SYSTEMS))]
fn a_replay_that_cannot_be_is_refused_before_its_first_statement(server: &mut Server) {
    let is_mysql = is_mysql(&server.access().engine);
    let folder = tempfile::tempdir().expect("a folder");
    let entries = [(0, 1, "SELECT 1")];
    let other = replaying(server, folder.path(), &log(!is_mysql, &entries), None);
    let message = run(other).failure.expect("traffic of another product");
    assert!(message.contains("is traffic of"), "{message}");
    let many =
        Job { connections: 50_000, ..replaying(server, folder.path(), &log(is_mysql, &entries), None) };
    let message = run(many).failure.expect("too many sessions");
    assert!(message.contains("has up to 50000 sessions at the same time, and the server takes"), "{message}");
    let mut missing = replaying(server, folder.path(), &log(is_mysql, &entries), None);
    missing.replay.as_mut().expect("a replay").file = folder.path().join("none");
    let message = run(missing).failure.expect("no traffic file");
    assert!(message.contains("no such traffic file"), "{message}");
}

#[dyno_test(servers(&["mariadb@10.11", "mysql@5.6.24"]))]
fn sessions_choose_their_database(server: &mut Server) {
    for database in ["one", "two"] {
        execute(
            server,
            &[&format!("CREATE DATABASE {database}"), &format!("CREATE TABLE {database}.t (n INT)")],
        );
    }
    let replayed = replay_all(
        server,
        &[
            (0, 1, "!Connect: root@localhost on one using Socket"),
            (1, 1, "INSERT INTO t VALUES (1)"),
            (2, 1, "!Init DB: two"),
            (3, 1, "INSERT INTO t VALUES (2)"),
            (4, 1, "INSERT INTO t VALUES (3)"),
            (5, 1, "!Quit: "),
        ],
    );
    assert_eq!(counted(&replayed), (3, BTreeMap::new()));
    for (database, rows) in [("one", "1"), ("two", "2")] {
        let found = server.query(&format!("SELECT count(*) FROM {database}.t")).expect("rows");
        assert_eq!(found.rows[0][0].as_deref(), Some(rows), "{database}");
        execute(server, &[&format!("DROP DATABASE {database}")]);
    }
}
