//! Imports a log, and checks what the traffic file contains.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dyno_engine::testing::wait_until;
use dyno_traffic::sql::{Dialect, Normalizer};
use dyno_traffic::{Imported, LogFormat, Options, Order, Summary, TrafficFile, Trouble, import};
use rusqlite::Connection;

use crate::SECRET;
use crate::client::Sent;

/// A statement in the traffic file.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) shape: String,
    pub(crate) literals: String,
    pub(crate) bound: Option<String>,
    pub(crate) transaction: Option<i64>,
    pub(crate) latency_us: Option<i64>,
    pub(crate) error: Option<String>,
}

/// Waits until a log contains a text, then imports it.
pub(crate) fn import_with(log: &Path, text: &str, folder: &Path) -> (PathBuf, Imported) {
    let has_text = || fs::read(log).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text));
    wait_until(&format!("{} has {text}", log.display()), has_text);
    let out = folder.join("a.traffic");
    let stop = AtomicBool::new(false);
    let options =
        Options { out: &out, overwrite: true, format: None, redact: false, keep_users: false, stop: &stop };
    let imported = import(&[log.to_owned()], &options, &mut |_| ()).unwrap();
    (out, imported)
}

/// Checks what every traffic file must satisfy, and returns the file's summary.
pub(crate) fn checked(file: &Path, format: LogFormat) -> Summary {
    assert!(
        !String::from_utf8_lossy(&fs::read(file).unwrap()).contains(SECRET),
        "{format}: the password is in it"
    );
    let summary = TrafficFile::open(file).unwrap().summary(Order::Time, usize::MAX, 10).unwrap();
    assert_eq!(summary.sources[0].format, format.name());
    let lost = summary.troubles.iter().filter(|row| Trouble::named(&row.kind).is_none_or(Trouble::loses));
    assert_eq!(lost.count(), 0, "{format}: {:?}", summary.troubles);
    let counted: i64 = summary.digests.iter().map(|digest| digest.statements).sum();
    assert_eq!(counted, summary.statements);
    summary
}

/// Returns the statements of each session by the number of the session's mark. A mark is a statement with the literal
/// `session NUMBER`. Statements before the mark, and sessions without a mark, are left out.
pub(crate) fn sessions(file: &Path) -> BTreeMap<u32, Vec<Row>> {
    let connection = Connection::open(file).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT session_id, shape.text, ifnull(literals, '[]'), bound, transaction_id, latency_us, error \
             FROM statement JOIN shape ON shape.id = shape_id ORDER BY statement.id",
        )
        .unwrap();
    let mut marks: BTreeMap<i64, u32> = BTreeMap::new();
    let mut sessions: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let session: i64 = row.get(0).unwrap();
        let row = Row {
            shape: row.get(1).unwrap(),
            literals: row.get(2).unwrap(),
            bound: row.get(3).unwrap(),
            transaction: row.get(4).unwrap(),
            latency_us: row.get(5).unwrap(),
            error: row.get(6).unwrap(),
        };
        let mark = row.literals.strip_prefix("[\"session ").and_then(|rest| rest.strip_suffix("\"]"));
        if let Some(number) = mark.and_then(|number| number.parse().ok()) {
            marks.insert(session, number);
        }
        if let Some(number) = marks.get(&session) {
            sessions.entry(*number).or_default().push(row);
        }
    }
    sessions
}

/// Compares the logged statements of a session with the statements that were sent. Statements about accounts are
/// left out, because servers rewrite them.
pub(crate) fn compare(rows: &[Row], sent: &[Sent], dialect: Dialect) {
    let is_about_accounts = |text: &str| text.starts_with("CREATE USER") || text.starts_with("DROP USER");
    let logged: Vec<_> = rows
        .iter()
        .filter(|row| !is_about_accounts(&row.shape))
        .map(|row| (row.shape.clone(), row.literals.clone(), row.bound.clone(), row.error.is_some()))
        .collect();
    let mut normalizer = Normalizer::new(dialect, false);
    let expected: Vec<_> = sent
        .iter()
        .filter(|sent| !is_about_accounts(&sent.text))
        .map(|sent| {
            let parts = normalizer.part(sent.text.as_bytes(), &[]);
            let shape = String::from_utf8(parts.shape.to_vec()).unwrap();
            (shape, parts.literals.unwrap_or("[]").to_owned(), sent.bound.clone(), sent.is_refused)
        })
        .collect();
    assert_eq!(logged, expected);
}

/// The numbers of the transactions to which the statements of a session belong. Consecutive equal numbers are
/// listed once.
pub(crate) fn transactions(rows: &[Row]) -> Vec<Option<i64>> {
    let mut numbers: Vec<_> = rows.iter().map(|row| row.transaction).collect();
    numbers.dedup();
    numbers
}
