use std::collections::VecDeque;

use rusqlite::Connection;

use super::*;

/// A backlog that returns the given amounts, one at each check. Records which methods are called.
struct Script {
    values: VecDeque<Result<f64, ()>>,
    is_begun: bool,
    is_ended: bool,
}

impl Script {
    fn new(values: impl IntoIterator<Item = Result<f64, ()>>) -> Self {
        Self { values: values.into_iter().collect(), is_begun: false, is_ended: false }
    }
}

impl Backlog for Script {
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError> {
        let value = self.values.pop_front().unwrap().map_err(|()| ClientError::Closed)?;
        Ok(vec![DrainAmount::down_to(2.0, "pages", value), DrainAmount::told("history", 7.0)])
    }

    fn begin(&mut self) -> Result<(), DrainError> {
        self.is_begun = true;
        Ok(())
    }

    fn end(&mut self) -> Result<(), DrainError> {
        self.is_ended = true;
        Ok(())
    }
}

fn limits(stop: &AtomicBool, seconds_max: f64) -> DrainLimits<'_> {
    DrainLimits { seconds_max, stop, may_set: true }
}

#[test]
fn the_goal_ends_the_waiting_and_the_report_has_both_ends() {
    let stop = AtomicBool::new(false);
    let mut script = Script::new([Ok(9.0), Ok(5.0), Ok(2.0)]);
    let mut seen = Vec::new();
    let report = carry_out(&mut script, &limits(&stop, 60.0), &mut |progress| {
        seen.push(progress.amounts[0].value);
    })
    .unwrap();
    assert_eq!(seen, [5.0, 2.0]);
    assert!(report.is_complete() && script.is_begun && script.is_ended);
    let pages = Drained { name: "pages".to_owned(), before: 9.0, after: 2.0, goal: Some(2.0) };
    let history = Drained { name: "history".to_owned(), before: 7.0, after: 7.0, goal: None };
    assert_eq!(report.amounts, [pages, history]);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<DrainReport>(&text).unwrap(), report);
}

#[test]
fn the_limit_and_a_stop_end_the_waiting_with_what_is_left() {
    let ending = |stop, seconds_max| {
        let mut script = Script::new([Ok(9.0), Ok(5.0)]);
        let stop = AtomicBool::new(stop);
        let report = carry_out(&mut script, &limits(&stop, seconds_max), &mut |_| ()).unwrap();
        assert!(script.is_ended && !report.is_complete());
        report.ending
    };
    assert_eq!(ending(false, 0.0), DrainEnding::OutOfTime);
    assert_eq!(ending(true, 60.0), DrainEnding::Stopped);
}

#[test]
fn everything_is_put_back_where_the_server_fails() {
    let stop = AtomicBool::new(false);
    let mut script = Script::new([Ok(9.0), Err(())]);
    let error = carry_out(&mut script, &limits(&stop, 60.0), &mut |_| ()).unwrap_err();
    assert!(matches!(error, DrainError::Client(ClientError::Closed)), "{error}");
    assert!(script.is_ended);
}

/// A database whose write-ahead log is not empty, and the connection that keeps the log.
fn database(folder: &Path) -> (std::path::PathBuf, Connection) {
    let path = folder.join("db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (v); INSERT INTO t VALUES (1);")
        .unwrap();
    (path, connection)
}

#[test]
fn a_write_ahead_log_is_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let (path, connection) = database(folder.path());
    let stop = AtomicBool::new(false);
    let report = drain_sqlite(&path, &limits(&stop, 60.0), &mut |_| ()).unwrap();
    assert!(report.is_complete() && report.amounts[0].before > 0.0, "{report:?}");
    assert_eq!(std::fs::metadata(folder.path().join("db-wal")).map_or(0, |wal| wal.len()), 0);
    let count: u32 = connection.query_row("SELECT count(*) FROM t", (), |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_reader_in_the_way_is_waited_for_only_so_long() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _writer) = database(folder.path());
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM t;").unwrap();
    let stop = AtomicBool::new(false);
    let report = drain_sqlite(&path, &limits(&stop, 0.3), &mut |_| ()).unwrap();
    assert_eq!(report.ending, DrainEnding::OutOfTime);
    reader.execute_batch("COMMIT").unwrap();
    assert!(drain_sqlite(&path, &limits(&stop, 60.0), &mut |_| ()).unwrap().is_complete());
}

#[test]
fn a_database_without_a_log_has_nothing_pending() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none");
    let stop = AtomicBool::new(false);
    assert!(drain_sqlite(&path, &limits(&stop, 60.0), &mut |_| ()).unwrap().is_complete());
    assert!(!path.exists(), "a database was made by looking at it");
}
