//! The distinct statements of a load, whose plans can be asked for afterwards.

use std::collections::{HashMap, HashSet};

use dyno_script::{ConnectionId, Reply, Request, StatementId};
use serde::{Deserialize, Serialize};

use crate::protocol::job::{Protocol, Target};
use crate::statements::emulation::Emulation;
use crate::statements::text::{explainable, without_values};

/// Largest number of statements that are recorded.
const STATEMENTS_MAX: usize = 50;
/// Number of executions that are examined. It is small, so that examining ends soon and then takes no time. It is large
/// enough to find a kind of transaction that is only one in 25.
const LOOKED_AT: u32 = 5_000;
/// Longest statement that is recorded, in bytes.
const BYTES_MAX: usize = 10_000;

/// The distinct statements that servers can explain, among the first 5,000 executions of a load's first script.
/// Statements above 10,000 bytes and those of bulk inserts are neither recorded nor counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// At most 50 statements, in the order in which they were first executed.
    pub statements: Vec<NotedStatement>,
    /// Number of further distinct statements, which were not recorded.
    pub left_out: u32,
}

/// A statement that a load executes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedStatement {
    /// The statement's text with `?` for values.
    pub text: String,
    /// The statement's text with the values of its first execution.
    pub example: String,
}

/// Records a script's distinct statements.
#[derive(Debug)]
pub(crate) struct StatementNotes {
    /// Number of executions that remain to be examined; `None` before the first event, 0 after the last examined
    /// execution.
    left: Option<u32>,
    backslashes: bool,
    emulation: Emulation,
    /// Prepared statements that have not been executed yet. The value is the number that the same statement has in
    /// `emulation`.
    prepared: HashMap<(ConnectionId, StatementId), StatementId>,
    /// The statement that is being prepared.
    preparing: Option<(ConnectionId, Vec<u8>)>,
    seen: HashSet<String>,
    noted: Noted,
}

impl StatementNotes {
    pub(crate) fn new(target: &Target) -> Self {
        Self {
            left: None,
            backslashes: target.driver == Protocol::Mysql,
            emulation: Emulation::default(),
            prepared: HashMap::new(),
            preparing: None,
            seen: HashSet::new(),
            noted: Noted::default(),
        }
    }

    /// Called when events begin. Statements before that, such as settings of the session, are not recorded.
    pub(crate) fn begin(&mut self) {
        self.left = Some(LOOKED_AT);
    }

    /// Counts an execution, and returns whether to examine it. After the last examined execution, drops everything
    /// except the recorded statements.
    fn looks(&mut self) -> bool {
        let Some(left) = self.left.as_mut().filter(|left| **left > 0) else { return false };
        *left -= 1;
        if *left == 0 {
            (self.emulation, self.prepared, self.preparing) = Default::default();
        }
        true
    }

    /// The statements recorded so far.
    pub(crate) fn so_far(&self) -> Noted {
        self.noted.clone()
    }

    /// Examines a request of the script.
    pub(crate) fn asked(&mut self, request: &Request<'_>) {
        if self.left == Some(0) {
            return;
        }
        match *request {
            Request::Prepare { connection, sql, .. } => {
                self.preparing = Some((connection, sql.to_vec()));
            }
            Request::CloseStatement { connection, statement } => self.forget((connection, statement)),
            Request::Execute { connection, statement, params } => {
                let own = self.prepared.get(&(connection, statement)).filter(|_| self.left.is_some());
                let text = own.and_then(|own| self.emulation.text(*own, params, self.backslashes));
                if let Some(text) = text.map(<[u8]>::to_vec) {
                    self.note(&text);
                    self.forget((connection, statement));
                }
                self.looks();
            }
            Request::Query { sql, .. } if self.looks() => self.note(sql),
            Request::ExecuteOnce { sql, params, .. } if self.looks() => {
                let own = self.emulation.prepare(sql);
                let text = self.emulation.text(own, params, self.backslashes).map(<[u8]>::to_vec);
                self.emulation.close(own);
                if let Some(text) = text {
                    self.note(&text);
                }
            }
            _ => {}
        }
    }

    fn forget(&mut self, prepared: (ConnectionId, StatementId)) {
        if let Some(own) = self.prepared.remove(&prepared) {
            self.emulation.close(own);
        }
    }

    /// Examines the reply to the previous request.
    pub(crate) fn replied(&mut self, reply: &Reply) {
        if let Some((connection, sql)) = self.preparing.take()
            && let Reply::Prepared(statement) = reply
        {
            // The number may be in use for an earlier statement, because a new connection can give its statements the
            // same numbers.
            self.forget((connection, *statement));
            self.prepared.insert((connection, *statement), self.emulation.prepare(&sql));
        }
    }

    fn note(&mut self, sql: &[u8]) {
        let Some(example) = std::str::from_utf8(sql).ok().and_then(explainable) else { return };
        if example.len() > BYTES_MAX {
            return;
        }
        let text = without_values(example);
        if self.seen.contains(&text) {
            return;
        }
        self.seen.insert(text.clone());
        if self.noted.statements.len() < STATEMENTS_MAX {
            self.noted.statements.push(NotedStatement { text, example: example.to_owned() });
        } else {
            self.noted.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_script::Param;

    use super::*;

    /// A recorder for a script whose events have begun.
    fn notes() -> StatementNotes {
        let mut notes = StatementNotes::new(&Target::new(Protocol::Mysql, Vec::new()));
        notes.begin();
        notes
    }

    fn query(notes: &mut StatementNotes, sql: &str) {
        notes.asked(&Request::Query { connection: 0, sql: sql.as_bytes() });
        notes.replied(&Reply::Result { has_rows: true });
    }

    fn prepare(notes: &mut StatementNotes, sql: &str, statement: StatementId) {
        notes.asked(&Request::Prepare { connection: 0, sql: sql.as_bytes(), types: &[] });
        notes.replied(&Reply::Prepared(statement));
    }

    #[test]
    fn each_statement_is_noted_once_with_the_values_of_its_first_execution() {
        let mut notes = notes();
        prepare(&mut notes, "SELECT c FROM t WHERE id = ? AND a = ?", 7);
        prepare(&mut notes, "BEGIN", 8);
        prepare(&mut notes, "DELETE FROM t WHERE id = ?", 9);
        for id in [3, 4] {
            notes.asked(&Request::Execute { connection: 0, statement: 8, params: &[] });
            let params = [Param::Int(id), Param::Text(b"it's")];
            notes.asked(&Request::Execute { connection: 0, statement: 7, params: &params });
        }
        query(&mut notes, "UPDATE t SET a = 1 WHERE id = 5");
        query(&mut notes, "UPDATE t SET a = 2 WHERE id = 6");
        let of_load = notes.so_far();
        let found: Vec<(&str, &str)> =
            of_load.statements.iter().map(|it| (it.text.as_str(), it.example.as_str())).collect();
        assert_eq!(
            found,
            [
                ("SELECT c FROM t WHERE id = ? AND a = ?", "SELECT c FROM t WHERE id = 3 AND a = 'it''s'"),
                ("UPDATE t SET a = ? WHERE id = ?", "UPDATE t SET a = 1 WHERE id = 5"),
            ],
            "what is prepared and never executed has no values"
        );
        assert_eq!(of_load.left_out, 0);
    }

    #[test]
    fn a_statement_that_was_not_prepared_is_not_noted() {
        let mut notes = notes();
        notes.asked(&Request::Prepare { connection: 0, sql: b"SELECT nonsense", types: &[] });
        notes.replied(&Reply::Failed(dyno_script::SqlFailure::default()));
        notes.asked(&Request::Execute { connection: 0, statement: 1, params: &[] });
        assert_eq!(notes.so_far(), Noted::default());
    }

    #[test]
    fn what_comes_before_the_first_event_is_not_noted() {
        let mut notes = StatementNotes::new(&Target::new(Protocol::Pgsql, Vec::new()));
        query(&mut notes, "SELECT count(*) FROM warehouse1");
        prepare(&mut notes, "SELECT c FROM t WHERE id = ?", 1);
        notes.begin();
        notes.asked(&Request::Execute { connection: 0, statement: 1, params: &[Param::Null] });
        let [only] = &notes.so_far().statements[..] else { panic!() };
        assert_eq!(only.example, "SELECT c FROM t WHERE id = NULL");
    }

    #[test]
    fn further_statements_are_counted() {
        let mut notes = notes();
        (0..STATEMENTS_MAX + 3).for_each(|table| query(&mut notes, &format!("SELECT 1 FROM t{table}")));
        let found = notes.so_far();
        assert_eq!((found.statements.len(), found.left_out), (STATEMENTS_MAX, 3));
    }

    #[test]
    fn a_load_is_left_alone_after_a_while() {
        let mut notes = notes();
        (0..LOOKED_AT).for_each(|_| query(&mut notes, "COMMIT"));
        query(&mut notes, "SELECT 1");
        assert_eq!(notes.so_far(), Noted::default());
        prepare(&mut notes, "SELECT 2", 1);
        assert!(notes.prepared.is_empty() && notes.preparing.is_none());
    }

    #[test]
    fn statements_that_are_closed_or_prepared_again_are_forgotten() {
        let mut notes = notes();
        prepare(&mut notes, "SELECT a FROM t", 1);
        prepare(&mut notes, "SELECT b FROM t", 1);
        notes.asked(&Request::CloseStatement { connection: 0, statement: 1 });
        assert!(notes.prepared.is_empty());
    }
}
