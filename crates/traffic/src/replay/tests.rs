use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use super::{Commits, Form, NotSent, ReplayStatement, StatementReader};
use crate::file::TrafficFile;
use crate::import::{Options, import};
use crate::sql::Dialect;

/// Imports a log, and returns the path of the traffic file.
fn imported(folder: &Path, log: &str, redact: bool) -> PathBuf {
    let (path, out) = (folder.join("server.log"), folder.join("a.traffic"));
    fs::write(&path, log).unwrap();
    let stop = AtomicBool::new(false);
    let options =
        Options { out: &out, overwrite: true, format: None, redact, keep_users: false, stop: &stop };
    import(&[path], &options, &mut |_| ()).unwrap();
    out
}

/// All statements of each session.
fn read(file: &Path, waived: &[NotSent]) -> Vec<Vec<ReplayStatement>> {
    let sessions = TrafficFile::open(file).unwrap().session_times().unwrap();
    let mut reader = StatementReader::new(TrafficFile::open(file).unwrap(), waived.to_vec()).unwrap();
    let of_session = |id: i64| {
        let (mut after, mut all) = (0, VecDeque::new());
        loop {
            let before = all.len();
            reader.read(id, &mut after, &mut all).unwrap();
            if all.len() == before {
                return Vec::from(all);
            }
        }
    };
    sessions.iter().map(|session| session.id).map(of_session).collect()
}

fn texts(statements: &[ReplayStatement]) -> Vec<String> {
    let text = |statement: &ReplayStatement| match &statement.form {
        Form::Text(sql) => String::from_utf8(sql.clone()).unwrap(),
        Form::Prepared { .. } => panic!("{statement:?}"),
        Form::Not(why) => format!("not {why}"),
    };
    statements.iter().map(text).collect()
}

fn general(at_ms: u32, session: u32, text: &str) -> String {
    let (second, ms) = (at_ms / 1000, at_ms % 1000);
    format!("2026-11-27T10:00:{second:02}.{ms:03}000Z\t{session:5} Query\t{text}\n")
}

#[test]
fn statements_come_back_as_they_were_sent_and_in_their_order() {
    let folder = TempDir::new().unwrap();
    let mut log = String::new();
    for number in 0..150 {
        log += &general(number, 7, &format!("SELECT '{number}?' FROM t -- why"));
        log += &general(number, 8, "SET GLOBAL a = 1");
    }
    log += &general(500, 8, "CREATE USER u IDENTIFIED BY 'secret'");
    let file = imported(folder.path(), &log, false);
    let outline = TrafficFile::open(&file).unwrap().outline().unwrap();
    assert_eq!((outline.dialect, outline.statements, outline.sessions), (Dialect::Mysql, 301, 2));
    assert_eq!(outline.sessions_at_once, 2);
    assert!((outline.seconds - 0.5).abs() < 1e-9, "{outline:?}");
    let sessions = read(&file, &[]);
    let expected: Vec<String> = (0..150).map(|number| format!("SELECT '{number}?' FROM t")).collect();
    assert_eq!(texts(&sessions[0]), expected);
    let offsets: Vec<i64> = sessions[0].iter().map(|statement| statement.offset_us).collect();
    assert_eq!(offsets, (0..150).map(|number| number * 1000).collect::<Vec<_>>());
    assert!(sessions[0].iter().all(|statement| statement.digest_id == sessions[0][0].digest_id));
    assert!(texts(&sessions[1]).iter().all(|text| text == "not server"));
    let waived = texts(&read(&file, &[NotSent::Server])[1]);
    assert_eq!((waived[0].as_str(), waived[150].as_str()), ("SET GLOBAL a = 1", "not redacted"));
    let redacted = imported(folder.path(), &log, true);
    assert!(texts(&read(&redacted, &[])[0]).iter().all(|text| text == "not redacted"));
}

#[test]
fn what_was_prepared_comes_with_its_parameters() {
    let folder = TempDir::new().unwrap();
    let entry = |text: &str| format!("2026-11-27 10:00:00.000 UTC [7] {text}\n");
    let log = entry("LOG:  execute <unnamed>: SELECT a ? 'k' FROM t WHERE b = $1 AND c = $2")
        + &entry("DETAIL:  Parameters: $1 = 'it''s', $2 = NULL")
        + &entry("LOG:  statement: SELECT a ? 'k' FROM t");
    let sessions = read(&imported(folder.path(), &log, false), &[]);
    let Form::Prepared { sql, params } = &sessions[0][0].form else { panic!("{sessions:?}") };
    assert_eq!(String::from_utf8_lossy(sql), "SELECT a ?? 'k' FROM t WHERE b = $1 AND c = $2");
    assert_eq!(*params, [Some(b"it's".to_vec()), None]);
    assert_eq!(texts(&sessions[0][1..]), ["SELECT a ? 'k' FROM t"]);
}

#[test]
fn commits_are_the_ends_of_transactions_and_changes_outside_of_them() {
    let folder = TempDir::new().unwrap();
    let log = [
        general(0, 7, "BEGIN"),
        general(10, 7, "INSERT INTO t VALUES (1)"),
        general(20, 8, "INSERT INTO t VALUES (2)"),
        general(30, 7, "COMMIT"),
        general(40, 8, "SELECT a FROM t"),
        general(50, 8, "ALTER TABLE t ADD b INT"),
    ]
    .concat();
    let file = imported(folder.path(), &log, false);
    let commits = Commits::read(&TrafficFile::open(&file).unwrap()).unwrap();
    assert_eq!(commits.len(), 3);
    // The commits are the insert of session 8, the commit of session 7, and the change of the table.
    let before: Vec<u32> = [0, 20_000, 20_001, 31_000, 60_000].map(|at_us| commits.before(at_us)).to_vec();
    assert_eq!(before, [0, 0, 1, 2, 3]);
    let places: Vec<Vec<Option<u32>>> = read(&file, &[])
        .iter()
        .map(|session| session.iter().map(|statement| commits.place(statement.id)).collect())
        .collect();
    assert_eq!(places, [vec![None, None, Some(1)], vec![Some(0), None, Some(2)]]);
}
