//! The data that a replay reads from a traffic file: its sessions, and the statements of each session in order.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Params, Row};

use super::read::{TrafficFile, classified};
use crate::error::TrafficError;
use crate::sql::Dialect;

/// When a connection of the traffic was open. Times are in µs since `began_at_us` of the traffic file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTimes {
    pub id: i64,
    /// The session's database at its start.
    pub database_id: Option<i64>,
    /// The start of the session, or the time of its first entry if the start was not logged.
    pub began_us: i64,
    /// The end of the session, or the end of its last statement if the end of the session was not logged.
    pub until_us: i64,
    pub is_begin_logged: bool,
    pub is_end_logged: bool,
    pub statements: u64,
}

/// A digest of the traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestName {
    pub id: i64,
    /// The hash of the digest. Equal texts have the same hash in all traffic files.
    pub hash: String,
    pub text: String,
    /// What the digest's statements do, as the name of a [`Kind`](crate::sql::Kind).
    pub kind: String,
}

/// The totals of a traffic file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    pub dialect: Dialect,
    pub statements: u64,
    pub sessions: u64,
    /// The largest number of sessions that were open at the same time.
    pub sessions_at_once: u32,
    /// Seconds from the start of the first session to the end of the last.
    pub seconds: f64,
}

/// A statement as a chunk stores it.
pub(crate) struct StoredStatement {
    pub(crate) id: i64,
    pub(crate) offset_us: i64,
    pub(crate) shape_id: i64,
    pub(crate) literals: Option<String>,
    pub(crate) bound: Option<String>,
    pub(crate) database_id: Option<i64>,
}

/// A row of `shape`.
pub(crate) struct StoredShape {
    pub(crate) digest_id: i64,
    pub(crate) text: String,
}

impl TrafficFile {
    /// Returns the totals of the file.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn outline(&self) -> Result<Outline, TrafficError> {
        let sessions = self.session_times()?;
        let began_us = sessions.iter().map(|session| session.began_us).min().unwrap_or(0);
        let until_us = sessions.iter().map(|session| session.until_us).max().unwrap_or(0);
        Ok(Outline {
            dialect: self.dialect()?,
            statements: sessions.iter().map(|session| session.statements).sum(),
            sessions: sessions.len() as u64,
            sessions_at_once: at_once(&sessions),
            seconds: until_us.saturating_sub(began_us).max(0) as f64 / 1e6,
        })
    }

    /// The product whose statements the file has.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn dialect(&self) -> Result<Dialect, TrafficError> {
        let name: String = self.row("SELECT dialect FROM traffic", [], |row| row.get(0))?;
        Ok(if name == Dialect::Postgresql.name() { Dialect::Postgresql } else { Dialect::Mysql })
    }

    /// All databases, with their ids.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn databases(&self) -> Result<Vec<(i64, String)>, TrafficError> {
        self.all("SELECT id, name FROM database ORDER BY id", [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// All digests.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn digests(&self) -> Result<Vec<DigestName>, TrafficError> {
        self.all("SELECT id, hash, text, kind FROM digest ORDER BY id", [], |row| {
            Ok(DigestName { id: row.get(0)?, hash: row.get(1)?, text: row.get(2)?, kind: row.get(3)? })
        })
    }

    /// All sessions, in the order of their starts.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn session_times(&self) -> Result<Vec<SessionTimes>, TrafficError> {
        let mut sessions = self.all(
            "SELECT id, database_id, began_us, ended_us, is_begin_logged, statements, last_us FROM session",
            [],
            |row| {
                let began_us: i64 = row.get(2)?;
                let ended_us: Option<i64> = row.get(3)?;
                let last_us: i64 = row.get(6)?;
                Ok(SessionTimes {
                    id: row.get(0)?,
                    database_id: row.get(1)?,
                    began_us,
                    until_us: ended_us.unwrap_or(last_us).max(began_us),
                    is_begin_logged: row.get(4)?,
                    is_end_logged: ended_us.is_some(),
                    statements: row.get(5)?,
                })
            },
        )?;
        sessions.sort_by_key(|session| (session.began_us, session.id));
        Ok(sessions)
    }

    /// Calls `each` with the next statements of a session, in order. These are the statements of the first chunk
    /// after the statement with id `after`.
    pub(crate) fn for_statements(
        &self,
        (session, after): (i64, i64),
        mut each: impl FnMut(StoredStatement),
    ) -> Result<(), TrafficError> {
        let sql = "SELECT first_id, content FROM chunk WHERE session_id = ?1 AND first_id > ?2 \
                   ORDER BY first_id LIMIT 1";
        self.for_rows(sql, [session, after], |first_id, row| {
            each(StoredStatement {
                id: row.id(first_id),
                offset_us: row.offset_us,
                shape_id: row.shape_id,
                literals: row.literals().map(str::to_owned),
                bound: row.bound().map(str::to_owned),
                database_id: row.database_id,
            });
        })
    }

    /// Calls `each` for every commit, with the id of its statement and the offset of the statement's end in µs. Commits
    /// are statements that end transactions, and statements outside of transactions that may change something.
    /// Definitions, such as `CREATE TABLE`, count as commits inside and outside of transactions: in MySQL they commit,
    /// and in every product later statements may need the created objects.
    pub(crate) fn for_commits(&self, mut each: impl FnMut(i64, i64)) -> Result<(), TrafficError> {
        let sql = "SELECT shape.id, kind IN ('end', 'definition') FROM shape JOIN digest ON digest.id = digest_id \
                   WHERE kind IN ('end', 'definition', 'write', 'other')";
        let shapes = self.all(sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?)))?;
        let commits_anywhere: HashMap<i64, bool> = shapes.into_iter().collect();
        self.for_rows("SELECT first_id, content FROM chunk", [], |first_id, row| {
            let commits = commits_anywhere
                .get(&row.shape_id)
                .is_some_and(|anywhere| *anywhere || row.transaction_id.is_none());
            if commits && !row.has_error() {
                each(row.id(first_id), row.offset_us.saturating_add(row.latency_us.unwrap_or(0)));
            }
        })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn shape(&self, id: i64) -> Result<StoredShape, TrafficError> {
        self.row("SELECT digest_id, text FROM shape WHERE id = ?1", [id], |row| {
            Ok(StoredShape { digest_id: row.get(0)?, text: row.get(1)? })
        })
    }

    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, TrafficError> {
        let row = self.connection.prepare_cached(sql).and_then(|mut select| select.query_row(params, read));
        row.map_err(|error| classified(&self.path, error))
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, TrafficError> {
        let rows = || {
            let mut select = self.connection.prepare_cached(sql)?;
            let rows = select.query_map(params, read)?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        };
        rows().map_err(|error| classified(&self.path, error))
    }
}

/// The largest number of sessions that are open at the same time. If one session ends at the moment when another
/// begins, they do not overlap.
fn at_once(sessions: &[SessionTimes]) -> u32 {
    let begins = sessions.iter().map(|session| (session.began_us, 1));
    // Every session counts as at least 1 µs long, even if the log shows no time.
    let ends = sessions.iter().map(|session| (session.until_us.max(session.began_us.saturating_add(1)), -1));
    let mut changes: Vec<(i64, i32)> = begins.chain(ends).collect();
    changes.sort_unstable();
    let open = changes.iter().scan(0, |open, (_, change)| {
        *open += change;
        Some(*open)
    });
    open.max().unwrap_or(0).max(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_follows_another_is_not_open_with_it() {
        let session = |id, began_us, until_us| SessionTimes {
            id,
            database_id: None,
            began_us,
            until_us,
            is_begin_logged: true,
            is_end_logged: true,
            statements: 1,
        };
        assert_eq!(at_once(&[]), 0);
        assert_eq!(at_once(&[session(1, 0, 10), session(2, 10, 20)]), 1);
        assert_eq!(at_once(&[session(1, 0, 10), session(2, 9, 20), session(3, 5, 5)]), 2);
    }
}
