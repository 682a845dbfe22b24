//! Writes a traffic file in one transaction, with SQL statements that are prepared once.

use rusqlite::{Connection, Statement, ToSql, params};

use super::chunk::{Chunk, Content};
use super::schema;
use crate::sql::{Dialect, Kind};

/// Size of SQLite's cache of the file's pages, in KiB.
const CACHE_KIB: i64 = 4 << 10;
/// Size of a page of the file, in bytes. Pages are large, because rows are only appended.
const PAGE_BYTES: i64 = 16 << 10;

/// Writes rows.
pub(crate) struct Writer<'c> {
    connection: &'c Connection,
    chunk: Statement<'c>,
    session: Statement<'c>,
    session_end: Statement<'c>,
    shape: Statement<'c>,
}

/// A statement to add.
pub(crate) struct NewStatement<'a> {
    pub(crate) id: i64,
    pub(crate) offset_us: i64,
    pub(crate) shape_id: i64,
    pub(crate) literals: Option<&'a str>,
    pub(crate) bound: Option<&'a str>,
    pub(crate) database_id: Option<i64>,
    pub(crate) transaction_id: Option<i64>,
    pub(crate) latency_us: Option<u64>,
    pub(crate) rows_sent: Option<u64>,
    pub(crate) rows_examined: Option<u64>,
    pub(crate) rows_affected: Option<u64>,
    pub(crate) error: Option<&'a str>,
    pub(crate) source_id: i64,
    pub(crate) line: u64,
}

/// A row of the table `session`, with the facts that are known when the session starts.
pub(crate) struct NewSession<'a> {
    pub(crate) server_id: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) database_id: Option<i64>,
    pub(crate) began_us: i64,
    pub(crate) is_begin_logged: bool,
}

/// Sums for a digest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DigestCounts {
    pub(crate) statements: u64,
    pub(crate) errors: u64,
    pub(crate) timed: u64,
    pub(crate) latency_us: u64,
    pub(crate) latency_us_max: u64,
    pub(crate) rows_sent: u64,
    pub(crate) rows_examined: u64,
    pub(crate) rows_affected: u64,
}

/// Sums for a second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SecondCounts {
    pub(crate) statements: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) errors: u64,
    pub(crate) latency_us: u64,
}

/// A row of the table `source`.
pub(crate) struct SourceCounts<'a> {
    pub(crate) name: &'a str,
    pub(crate) format: &'a str,
    pub(crate) compression: &'a str,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) statements: u64,
}

/// The row of the table `traffic`.
pub(crate) struct Whole {
    pub(crate) dialect: Dialect,
    pub(crate) began_at_us: i64,
    pub(crate) statements: u64,
    pub(crate) sessions: u64,
    pub(crate) is_redacted: bool,
    pub(crate) has_user_names: bool,
    pub(crate) imported_at_us: i64,
}

/// Converts a number to SQLite's range. Logs may claim larger numbers.
pub(super) fn int(number: u64) -> i64 {
    number.min(i64::MAX as u64) as i64
}

pub(super) fn optional(number: Option<u64>) -> Option<i64> {
    number.map(int)
}

/// Prepares an empty file. The file needs no locks, because no other process reads it before it has its final name. It
/// needs no journal, because an import that crashes leaves no file with the final name.
pub(crate) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // Rows refer to rows that are written later.
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    connection.query_row("PRAGMA journal_mode = OFF", [], |_| Ok(()))?;
    schema::create(connection)
}

impl<'c> Writer<'c> {
    /// Begins the transaction, which [`Self::commit`] ends.
    pub(crate) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        prepare(connection)?;
        connection.execute_batch("BEGIN")?;
        Ok(Self {
            connection,
            chunk: connection.prepare("INSERT INTO chunk VALUES (NULL, ?, ?, ?, ?)")?,
            session: connection
                .prepare("INSERT INTO session VALUES (NULL, ?1, ?2, ?3, ?4, NULL, ?4, ?5, 0)")?,
            session_end: connection
                .prepare("UPDATE session SET ended_us = ?, last_us = ?, statements = ? WHERE id = ?")?,
            shape: connection.prepare("INSERT INTO shape VALUES (NULL, ?, ?)")?,
        })
    }

    /// Writes the statements of a chunk, and empties the chunk. `is_final` says that later entries will not change
    /// the last statement.
    pub(crate) fn add_chunk(
        &mut self,
        session_id: i64,
        chunk: &mut Chunk,
        is_final: bool,
    ) -> rusqlite::Result<()> {
        if let Some(Content { first_id, statements, json }) = chunk.complete(is_final) {
            chunk.written_id = Some(self.chunk.insert(params![session_id, first_id, statements, json])?);
        }
        chunk.clear();
        Ok(())
    }

    /// Sets the latency of the last statement that was added to a chunk.
    pub(crate) fn set_latency(&self, chunk: &mut Chunk, latency_us: u64) -> rusqlite::Result<()> {
        if chunk.set_latency(latency_us) {
            Ok(())
        } else {
            self.set_last(chunk, "$[#-1][9]", int(latency_us))
        }
    }

    /// Sets the error of the last statement that was added to a chunk.
    pub(crate) fn set_error(&self, chunk: &mut Chunk, error: &str) -> rusqlite::Result<()> {
        if chunk.set_error(error) { Ok(()) } else { self.set_last(chunk, "$[#-1][13]", error) }
    }

    /// Sets a value of the last statement that was written from a chunk. `path` is the value's path in the chunk's
    /// JSON.
    fn set_last(&self, chunk: &Chunk, path: &str, value: impl ToSql) -> rusqlite::Result<()> {
        let mut update = self
            .connection
            .prepare_cached("UPDATE chunk SET content = json_set(content, ?, ?) WHERE id = ?")?;
        update.execute(params![path, value, chunk.written_id]).map(drop)
    }

    pub(crate) fn add_session(&mut self, new: &NewSession<'_>) -> rusqlite::Result<i64> {
        let NewSession { server_id, user, database_id, began_us, is_begin_logged } = new;
        self.session.insert(params![server_id, user, database_id, began_us, is_begin_logged])
    }

    pub(crate) fn end_session(
        &mut self,
        id: i64,
        ended_us: Option<i64>,
        last_us: i64,
        statements: u64,
    ) -> rusqlite::Result<()> {
        self.session_end.execute(params![ended_us, last_us, int(statements), id]).map(drop)
    }

    pub(crate) fn add_shape(&mut self, digest_id: i64, text: &str) -> rusqlite::Result<i64> {
        self.shape.insert(params![digest_id, text])
    }

    pub(crate) fn add_database(&self, name: &str) -> rusqlite::Result<i64> {
        self.connection.execute("INSERT INTO database VALUES (NULL, ?)", [name])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// The id of a digest. The digest is added if it is new.
    pub(crate) fn digest(&self, hash: &str, text: &str, kind: Kind) -> rusqlite::Result<i64> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO digest VALUES (NULL, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT (hash) DO NOTHING",
        )?;
        if insert.execute(params![hash, text, kind.name()])? > 0 {
            return Ok(self.connection.last_insert_rowid());
        }
        let mut find = self.connection.prepare_cached("SELECT id FROM digest WHERE hash = ?")?;
        find.query_row([hash], |row| row.get(0))
    }

    pub(crate) fn count_digest(&self, id: i64, counts: &DigestCounts) -> rusqlite::Result<()> {
        let mut update = self.connection.prepare_cached(
            "UPDATE digest SET statements = statements + ?2, errors = errors + ?3, timed = timed + ?4, \
             latency_us = latency_us + ?5, latency_us_max = max(latency_us_max, ?6), rows_sent = rows_sent + ?7, \
             rows_examined = rows_examined + ?8, rows_affected = rows_affected + ?9 WHERE id = ?1",
        )?;
        let [statements, errors, timed] = [counts.statements, counts.errors, counts.timed].map(int);
        let [latency_us, latency_us_max] = [counts.latency_us, counts.latency_us_max].map(bounded);
        let [sent, examined, affected] =
            [counts.rows_sent, counts.rows_examined, counts.rows_affected].map(bounded);
        update
            .execute(params![
                id,
                statements,
                errors,
                timed,
                latency_us,
                latency_us_max,
                sent,
                examined,
                affected
            ])
            .map(drop)
    }

    pub(crate) fn count_second(&self, second: i64, counts: &SecondCounts) -> rusqlite::Result<()> {
        let mut upsert = self.connection.prepare_cached(
            "INSERT INTO second VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (second) DO UPDATE SET \
             statements = statements + ?2, reads = reads + ?3, writes = writes + ?4, errors = errors + ?5, \
             latency_us = latency_us + ?6",
        )?;
        let [statements, reads, writes, errors] =
            [counts.statements, counts.reads, counts.writes, counts.errors].map(int);
        upsert
            .execute(params![second, statements, reads, writes, errors, bounded(counts.latency_us)])
            .map(drop)
    }

    pub(crate) fn add_source(&self, source: &SourceCounts<'_>) -> rusqlite::Result<()> {
        let SourceCounts { name, format, compression, bytes, lines, statements } = source;
        let [bytes, lines, statements] = [bytes, lines, statements].map(|number| int(*number));
        let mut insert =
            self.connection.prepare_cached("INSERT INTO source VALUES (NULL, ?, ?, ?, ?, ?, ?)")?;
        insert.execute(params![name, format, compression, bytes, lines, statements]).map(drop)
    }

    pub(crate) fn add_skipped(&self, source_id: i64, command: &str, entries: u64) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT INTO skipped VALUES (?, ?, ?)")?;
        insert.execute(params![source_id, command, int(entries)]).map(drop)
    }

    /// Adds a problem of a log. `lines` is a JSON array.
    pub(crate) fn add_trouble(
        &self,
        source_id: i64,
        kind: &str,
        entries: u64,
        lines: &str,
    ) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT INTO trouble VALUES (?, ?, ?, ?)")?;
        insert.execute(params![source_id, kind, int(entries), lines]).map(drop)
    }

    /// Completes the file.
    pub(crate) fn commit(self, whole: &Whole) -> rusqlite::Result<()> {
        let Whole { dialect, began_at_us, statements, sessions, is_redacted, has_user_names, imported_at_us } =
            whole;
        self.connection.execute(
            "INSERT INTO traffic VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                dialect.name(),
                began_at_us,
                int(*statements),
                int(*sessions),
                is_redacted,
                has_user_names,
                imported_at_us
            ],
        )?;
        schema::complete(self.connection)?;
        self.connection.execute_batch("COMMIT")
    }
}

/// Limits a sum to far less than the largest integer, so that such sums can be added without overflow. A log may claim
/// any number.
fn bounded(sum: u64) -> i64 {
    int(sum).min(i64::MAX >> 20)
}
