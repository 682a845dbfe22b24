//! A results file of somebody else: opened, checked, judged, and reported in every format.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dyno_judge::{Rule, analyse};
use dyno_report::{
    Details, Format, PageInput, Reasons, RenderOptions, check_trials, render, render_html, reports,
};
use dyno_store::{RunChoice, Store, StoreError};
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use crate::corpus;

/// First byte of an input whose rest is a file, byte by byte.
pub(crate) const FILE: u8 = 0;
/// First byte of an input whose rest changes cells of a file that is whole.
pub(crate) const CELLS: u8 = 1;

/// Tables of which cells are changed.
pub(crate) const TABLES: [&str; 19] = [
    "run",
    "system",
    "step",
    "instance",
    "trial",
    "slice",
    "sample",
    "sample_latency",
    "counter",
    "trial_counter",
    "counter_series",
    "stack_profile",
    "stack",
    "query_plan",
    "query_answer",
    "statement_plan",
    "claim",
    "attempt",
    "crash_test",
];

/// Reports what is in a file, as `dyno report` and `dyno results check` do.
pub(crate) fn report(input: &[u8]) {
    thread_local! {
        static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    let path = FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| scratch().expect("a folder for results files"));
        folder.path().join("dyno.db")
    });
    match input {
        [FILE, file @ ..] => write(&path, file),
        [CELLS, changes @ ..] => change(&path, changes),
        _ => return,
    }
    // An error is an answer; a panic is the fault.
    let _ = read(&path);
}

/// In memory where there is such a file system.
fn scratch() -> std::io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn write(path: &Path, bytes: &[u8]) {
    for ending in ["-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", path.display())));
    }
    fs::write(path, bytes).expect("the file can be written");
}

/// Writes a whole file, then changes cells. A change is a byte each of table, column, row, kind of value and length, then
/// the value; what is no change any more is left out.
fn change(path: &Path, mut changes: &[u8]) {
    static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
    write(path, WHOLE.get_or_init(corpus::results_file));
    let Ok(connection) = Connection::open(path) else { return };
    // SQLite does not check what it is told not to: so may a file that somebody made.
    let _ = connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON;
         PRAGMA foreign_keys = OFF;",
    );
    while let [table, column, row, kind, length, rest @ ..] = changes {
        let (value, after) = rest.split_at(usize::from(*length).min(rest.len()));
        let table = TABLES[usize::from(*table) % TABLES.len()];
        let _ = set(&connection, table, usize::from(*column), u32::from(*row), &value_of(*kind, value));
        changes = after;
    }
}

fn set(connection: &Connection, table: &str, column: usize, row: u32, value: &Value) -> rusqlite::Result<()> {
    let columns: Vec<String> = connection
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let Some(column) = columns.get(column % columns.len().max(1)) else { return Ok(()) };
    let one = format!(
        "UPDATE {table} SET {column} = ?1 WHERE rowid IN
         (SELECT rowid FROM {table} LIMIT 1 OFFSET ?2 % (SELECT max(1, count(*)) FROM {table}))"
    );
    // All rows of a table that has no rowid.
    let all = format!("UPDATE {table} SET {column} = ?1");
    connection.execute(&one, (value, row)).or_else(|_| connection.execute(&all, [value])).map(drop)
}

fn value_of(kind: u8, bytes: &[u8]) -> Value {
    let mut eight = [0; 8];
    let length = bytes.len().min(8);
    eight[..length].copy_from_slice(&bytes[..length]);
    match kind % 6 {
        0 => Value::Null,
        1 => Value::Integer(i64::from_le_bytes(eight)),
        2 => Value::Real(f64::from_le_bytes(eight)),
        3 => Value::Blob(bytes.to_vec()),
        4 => Value::Integer(i64::from(eight[0]) - 3),
        _ => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn read(path: &Path) -> Result<(), StoreError> {
    let store = Store::open_read_only(path)?;
    let _ = store.check_contents();
    let _ = store.runs();
    let run = store.load_run(RunChoice::Latest)?;
    let checks = check_trials(&store, &run)?;
    let analysis = analyse(&run, &checks, &Rule::default());
    let found = reports(&run, &checks, &analysis);
    for format in [Format::Text, Format::Markdown, Format::Json] {
        let _ = render(&found, format, &RenderOptions::default());
    }
    let details = Details::load(&store, &run)?;
    let _ = render_html(&PageInput {
        run: &run,
        analysis: &analysis,
        details: &details,
        curves: &[],
        reasons: &Reasons::default(),
        is_live: false,
    });
    Ok(())
}
