//! The data that a replay reads from a traffic file: its sessions, and the statements of each in order.

use std::path::Path;

use rusqlite::{Params, Row, params};

use super::read::{TrafficFile, classified};
use crate::error::TrafficError;
use crate::sql::Dialect;

/// A connection of the traffic. Offsets are in µs, as in the traffic file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTimes {
    pub id: i64,
    /// Its database at the start.
    pub database_id: Option<i64>,
    /// When it began; otherwise its first entry.
    pub began_us: i64,
    /// When it ended; if that was not logged, the end of its last statement.
    pub until_us: i64,
    pub is_begin_logged: bool,
    pub is_end_logged: bool,
    pub statements: u64,
}

/// A digest of the traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestName {
    pub id: i64,
    /// Its hash. Equal texts have the same hash in all traffic files.
    pub hash: String,
    pub text: String,
    /// What its statements do: the name of a [`Kind`](crate::sql::Kind).
    pub kind: String,
}

/// A traffic file in figures.
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

/// A row of `statement`.
pub(crate) struct StoredStatement {
    pub(crate) id: i64,
    pub(crate) offset_us: i64,
    pub(crate) shape_id: i64,
    pub(crate) literals: Option<String>,
    pub(crate) bound: Option<String>,
    pub(crate) database_id: Option<i64>,
}

impl StoredStatement {
    fn bytes(&self) -> usize {
        [&self.literals, &self.bound].into_iter().flatten().map(String::len).sum()
    }
}

/// A row of `shape`.
pub(crate) struct StoredShape {
    pub(crate) digest_id: i64,
    pub(crate) text: String,
}

impl TrafficFile {
    /// Summarises the file in numbers.
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
            "SELECT id, database_id, began_us, ended_us, is_begin_logged, statements, \
             CASE WHEN ended_us IS NULL THEN (SELECT offset_us + coalesce(latency_us, 0) FROM statement \
             WHERE session_id = session.id ORDER BY id DESC LIMIT 1) END FROM session",
            [],
            |row| {
                let began_us: i64 = row.get(2)?;
                let ended_us: Option<i64> = row.get(3)?;
                let last_us: Option<i64> = row.get(6)?;
                Ok(SessionTimes {
                    id: row.get(0)?,
                    database_id: row.get(1)?,
                    began_us,
                    until_us: ended_us.or(last_us).unwrap_or(began_us).max(began_us),
                    is_begin_logged: row.get(4)?,
                    is_end_logged: ended_us.is_some(),
                    statements: row.get(5)?,
                })
            },
        )?;
        sessions.sort_by_key(|session| (session.began_us, session.id));
        Ok(sessions)
    }

    /// Calls `each` with the statements of a session that follow the statement with id `after`, in order. Stops after
    /// `most` statements, or when their values are longer than `bytes_max`.
    pub(crate) fn for_statements(
        &self,
        (session, after): (i64, i64),
        (most, bytes_max): (usize, usize),
        mut each: impl FnMut(StoredStatement),
    ) -> Result<(), TrafficError> {
        let mut read = || {
            let mut select = self.connection.prepare_cached(
                "SELECT id, offset_us, shape_id, literals, bound, database_id FROM statement \
                 WHERE session_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            )?;
            let mut rows = select.query(params![session, after, most as i64])?;
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                let statement = StoredStatement {
                    id: row.get(0)?,
                    offset_us: row.get(1)?,
                    shape_id: row.get(2)?,
                    literals: row.get(3)?,
                    bound: row.get(4)?,
                    database_id: row.get(5)?,
                };
                bytes += statement.bytes();
                each(statement);
                if bytes > bytes_max {
                    break;
                }
            }
            Ok(())
        };
        read().map_err(|error| classified(&self.path, error))
    }

    /// Calls `each` with the statement ids of all commits and the offsets of their ends, in µs: of statements that end
    /// transactions, and of those outside of transactions that may change something. Definitions commit in MySQL, and
    /// later statements need them in any case.
    pub(crate) fn for_commits(&self, mut each: impl FnMut(i64, i64)) -> Result<(), TrafficError> {
        let mut read = || {
            let mut select = self.connection.prepare(
                "SELECT statement.id, offset_us + coalesce(statement.latency_us, 0) FROM statement \
                 JOIN shape ON shape.id = shape_id JOIN digest ON digest.id = digest_id \
                 WHERE error IS NULL AND (kind IN ('end', 'definition') \
                 OR (transaction_id IS NULL AND kind IN ('write', 'other')))",
            )?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                each(row.get(0)?, row.get(1)?);
            }
            Ok(())
        };
        read().map_err(|error| classified(&self.path, error))
    }

    /// Where the file is.
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

/// The largest number of sessions that are open at the same time. A session that ends when another begins is not open
/// at the same time.
fn at_once(sessions: &[SessionTimes]) -> u32 {
    let begins = sessions.iter().map(|session| (session.began_us, 1));
    // A session takes some time, even if the log says none.
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
