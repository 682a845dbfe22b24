//! Collects the names in the statements with which a load creates and changes tables. The process that started the load
//! can then distinguish the load's tables from tables that somebody else creates at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyno_script::{Piped, Request};
use serde::{Deserialize, Serialize};

/// A statement that begins with one of these words changes at most rows, but no tables. If further statements follow
/// after a semicolon, they may still change tables.
const HARMLESS: [&str; 20] = [
    "BEGIN",
    "CLOSE",
    "COMMIT",
    "COPY",
    "DECLARE",
    "DEALLOCATE",
    "DELETE",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "INSERT",
    "LOAD",
    "REPLACE",
    "ROLLBACK",
    "SAVEPOINT",
    "SET",
    "SHOW",
    "START",
    "UPDATE",
    "VALUES",
];
/// First words of statements that create a table only if they contain `INTO`.
const QUERIES: [&str; 2] = ["SELECT", "WITH"];

/// The lower-case words of the statements that may have changed tables, collected from all loads with the same target.
/// In a job's JSON, this is `true`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub struct ChangedNames(Arc<Mutex<Gathered>>);

#[derive(Debug, Default)]
struct Gathered {
    words: BTreeSet<String>,
    /// Number of load processes that run now.
    at_work: u32,
    /// Number of load processes that were started.
    started: u64,
}

/// The words that had been collected when [`ChangedNames::heard`] was called.
#[derive(Clone, Debug)]
pub struct Heard {
    pub words: BTreeSet<String>,
    /// Whether no load process was running at that time.
    pub is_over: bool,
    started: u64,
}

impl From<bool> for ChangedNames {
    fn from(_: bool) -> Self {
        Self::default()
    }
}

impl From<ChangedNames> for bool {
    fn from(_: ChangedNames) -> Self {
        true
    }
}

impl ChangedNames {
    /// The words gathered so far.
    pub fn heard(&self) -> Heard {
        let gathered = self.gathered();
        Heard { words: gathered.words.clone(), is_over: gathered.at_work == 0, started: gathered.started }
    }

    /// Forgets the collected words. Does nothing if a load process was running when `heard` was made, or has started
    /// since.
    pub fn forget(&self, heard: &Heard) {
        let mut gathered = self.gathered();
        if heard.is_over && heard.started == gathered.started {
            gathered.words.clear();
        }
    }

    /// Adds words, and returns those of them that are new.
    pub(crate) fn add(&self, words: Vec<String>) -> Vec<String> {
        let mut gathered = self.gathered();
        words.into_iter().filter(|word| gathered.words.insert(word.clone())).collect()
    }

    /// If a request may change tables, adds the words of its statement and returns those that are new.
    pub(crate) fn asked(&self, request: &Request<'_>) -> Vec<String> {
        match request {
            Request::Query { sql, .. }
            | Request::Send { sql, .. }
            | Request::Prepare { sql, .. }
            | Request::ExecuteOnce { sql, .. }
            | Request::Pipe { part: Piped::Once { sql, .. }, .. }
                if may_change_tables(sql) =>
            {
                self.add(words(sql))
            }
            _ => Vec::new(),
        }
    }

    /// Called when a load process begins.
    pub(crate) fn begin(&self) {
        let mut gathered = self.gathered();
        gathered.at_work += 1;
        gathered.started += 1;
    }

    /// Called when a load process has ended and all its words have been added.
    pub(crate) fn end(&self) {
        self.gathered().at_work -= 1;
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a statement may do more than change rows, such as create a table.
fn may_change_tables(sql: &[u8]) -> bool {
    let sql = sql.trim_ascii();
    let goes_on = sql.iter().position(|byte| *byte == b';').is_some_and(|at| at + 1 < sql.len());
    let length = sql.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(sql.len());
    let is_one_of =
        |words: &[&str]| words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(&sql[..length]));
    if goes_on {
        return true;
    }
    if is_one_of(&QUERIES) {
        return sql.windows(4).any(|word| word.eq_ignore_ascii_case(b"into"));
    }
    !is_one_of(&HARMLESS)
}

/// The words of a statement in lower case. A quoted name is also returned as a whole.
fn words(sql: &[u8]) -> Vec<String> {
    let sql = String::from_utf8_lossy(sql).to_lowercase();
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let plain = sql.split(|letter| !is_of_word(letter)).filter(|word| !word.is_empty());
    let quoted = ['`', '"'].into_iter().flat_map(|quote| sql.split(quote).skip(1).step_by(2));
    plain.chain(quoted).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(sql: &str) -> Vec<String> {
        ChangedNames::default().asked(&Request::Query { connection: 0, sql: sql.as_bytes() })
    }

    #[test]
    fn names_of_tables_that_are_made_are_heard_however_they_are_written() {
        for (sql, name) in [
            ("CREATE TABLE sbtest1(id INT)", "sbtest1"),
            ("  create table if not exists `Of Mine` (id int)", "of mine"),
            ("CREATE TABLE \"a\".\"b c\" AS SELECT 1", "b c"),
            ("ALTER TABLE a RENAME TO b2", "b2"),
            ("/* hint */ CREATE VIEW v AS SELECT 1", "v"),
            ("SELECT 1 AS x INTO made", "made"),
            ("INSERT INTO t VALUES (1); CREATE TABLE u (id INT)", "u"),
            ("TRUNCATE t", "t"),
        ] {
            assert!(asked(sql).contains(&name.to_owned()), "{sql}: {:?}", asked(sql));
        }
    }

    #[test]
    fn statements_on_rows_are_passed_over() {
        for sql in [
            "INSERT INTO t VALUES (1, 'CREATE TABLE x')",
            "SELECT c FROM t WHERE id = 1",
            "update t set a = 1;",
            "BEGIN",
            "SET autocommit = 0",
        ] {
            assert_eq!(asked(sql), Vec::<String>::new(), "{sql}");
        }
    }

    #[test]
    fn words_are_told_once_and_stay_until_they_are_forgotten_at_rest() {
        let names = ChangedNames::default();
        let create = Request::Query { connection: 0, sql: b"CREATE TABLE t" };
        names.begin();
        assert_eq!(names.asked(&create), ["create", "table", "t"]);
        assert_eq!(names.asked(&create), Vec::<String>::new());
        names.forget(&names.heard());
        assert!(names.heard().words.contains("t"), "a load is at work");
        names.end();
        let before = names.heard();
        names.begin();
        names.end();
        names.forget(&before);
        assert!(names.heard().words.contains("t"), "another was at work since");
        names.forget(&names.heard());
        assert!(names.heard().words.is_empty());
    }

    #[test]
    fn a_job_says_whether_they_are_wanted() {
        let none: Option<ChangedNames> = None;
        assert_eq!(serde_json::to_string(&none).unwrap(), "null");
        assert_eq!(serde_json::to_string(&Some(ChangedNames::default())).unwrap(), "true");
        assert!(serde_json::from_str::<Option<ChangedNames>>("true").unwrap().is_some());
        assert!(serde_json::from_str::<Option<ChangedNames>>("null").unwrap().is_none());
    }
}
