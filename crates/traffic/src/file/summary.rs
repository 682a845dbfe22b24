//! A summary of a traffic file.

use rusqlite::{Connection, Row};
use serde::Serialize;

/// Shortest gap that is reported, in seconds.
const GAP_S: i64 = 10;
/// Number of gaps that are reported, beginning with the longest.
const GAPS_MAX: i64 = 5;

/// The order in which digests are listed, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the sum of the latencies of their statements.
    Time,
    /// By the number of their statements.
    Number,
}

/// A summary of a traffic file.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// `mysql` or `postgresql`.
    pub dialect: String,
    /// The start of the traffic, in µs since 1970 UTC.
    pub began_at_us: i64,
    /// Seconds from the first second with a statement to the last, including both.
    pub seconds: i64,
    pub statements: i64,
    pub is_redacted: bool,
    pub has_user_names: bool,
    pub sources: Vec<SourceRow>,
    pub sessions: SessionCounts,
    pub kinds: Vec<KindRow>,
    /// Number of all digests. `digests` may have only the first of them.
    pub digests_total: i64,
    /// Number of statements with a logged latency, and the sum of these latencies.
    pub timed: i64,
    pub latency_us: i64,
    pub digests: Vec<DigestRow>,
    pub rates: Vec<RateRow>,
    pub gaps: Vec<Gap>,
    pub troubles: Vec<TroubleRow>,
    pub skipped: Vec<SkippedRow>,
}

/// A log or a capture that was imported.
#[derive(Clone, Debug, Serialize)]
pub struct SourceRow {
    pub name: String,
    pub format: String,
    pub compression: String,
    pub bytes: i64,
    pub lines: i64,
    pub statements: i64,
}

/// Numbers of sessions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SessionCounts {
    pub sessions: i64,
    /// Sessions that were open before the log begins, or whose start was not logged.
    pub without_begin: i64,
    pub without_end: i64,
    pub users: i64,
    pub databases: i64,
    /// Number of transactions that a statement began.
    pub transactions: i64,
}

/// The statements of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct KindRow {
    pub kind: String,
    pub statements: i64,
    pub latency_us: i64,
}

/// A digest.
#[derive(Clone, Debug, Serialize)]
pub struct DigestRow {
    pub hash: String,
    pub text: String,
    pub kind: String,
    pub statements: i64,
    pub errors: i64,
    /// Number of statements with a logged latency. `latency_us` and `latency_us_max` concern only these statements.
    pub timed: i64,
    pub latency_us: i64,
    pub latency_us_max: i64,
    pub rows_sent: i64,
    pub rows_examined: i64,
    pub rows_affected: i64,
}

/// The number of statements that began in a part of the traffic's time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RateRow {
    /// The start of the part, in seconds since 1970 UTC.
    pub at_s: i64,
    /// The length of the part.
    pub seconds: i64,
    pub statements: i64,
    pub reads: i64,
    pub writes: i64,
    pub errors: i64,
    pub latency_us: i64,
}

/// A time in which no statement began.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Gap {
    /// The start of the gap, in seconds since 1970 UTC.
    pub at_s: i64,
    pub seconds: i64,
}

/// A problem with a log, and the lines in which it occurs.
#[derive(Clone, Debug, Serialize)]
pub struct TroubleRow {
    /// The log's name.
    pub source: String,
    /// The name of the problem, which is a [`Trouble`](crate::Trouble).
    pub kind: String,
    pub entries: i64,
    /// The first ten lines with this problem.
    pub lines: Vec<i64>,
}

/// A command that executes no statement, and the number of log entries with this command.
#[derive(Clone, Debug, Serialize)]
pub struct SkippedRow {
    pub command: String,
    pub entries: i64,
}

pub(super) fn read(
    connection: &Connection,
    order: Order,
    digests_max: usize,
    parts_max: usize,
) -> rusqlite::Result<Summary> {
    let whole = "SELECT dialect, began_at_us, statements, is_redacted, has_user_names FROM traffic";
    let (dialect, began_at_us, statements, is_redacted, has_user_names) =
        connection.query_row(whole, [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })?;
    let pair =
        |sql: &str| connection.query_row(sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    let (first_s, last_s) = pair("SELECT ifnull(min(second), 0), ifnull(max(second), 0) FROM second")?;
    let (timed, latency_us) = pair("SELECT ifnull(sum(timed), 0), ifnull(sum(latency_us), 0) FROM digest")?;
    let seconds = last_s.saturating_sub(first_s).saturating_add(1);
    Ok(Summary {
        dialect,
        began_at_us,
        seconds,
        statements,
        is_redacted,
        has_user_names,
        sources: sources(connection)?,
        sessions: sessions(connection)?,
        kinds: kinds(connection)?,
        digests_total: connection.query_row("SELECT count(*) FROM digest", [], |row| row.get(0))?,
        timed,
        latency_us,
        digests: digests(connection, order, digests_max)?,
        rates: rates(connection, first_s, seconds, parts_max)?,
        gaps: gaps(connection)?,
        troubles: troubles(connection)?,
        skipped: skipped(connection)?,
    })
}

/// Reads the rows of a query.
fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare(sql)?.query_map(parameters, row)?.collect()
}

fn sources(connection: &Connection) -> rusqlite::Result<Vec<SourceRow>> {
    let sql = "SELECT name, format, compression, bytes, lines, statements FROM source ORDER BY id";
    all(connection, sql, [], |row| {
        Ok(SourceRow {
            name: row.get(0)?,
            format: row.get(1)?,
            compression: row.get(2)?,
            bytes: row.get(3)?,
            lines: row.get(4)?,
            statements: row.get(5)?,
        })
    })
}

fn sessions(connection: &Connection) -> rusqlite::Result<SessionCounts> {
    let sql = "SELECT count(*), ifnull(sum(NOT is_begin_logged), 0), ifnull(sum(ended_us IS NULL), 0), \
               count(DISTINCT user), (SELECT count(*) FROM database), \
               (SELECT ifnull(sum(statements), 0) FROM digest WHERE kind = 'begin') FROM session";
    connection.query_row(sql, [], |row| {
        Ok(SessionCounts {
            sessions: row.get(0)?,
            without_begin: row.get(1)?,
            without_end: row.get(2)?,
            users: row.get(3)?,
            databases: row.get(4)?,
            transactions: row.get(5)?,
        })
    })
}

fn kinds(connection: &Connection) -> rusqlite::Result<Vec<KindRow>> {
    let sql = "SELECT kind, sum(statements), sum(latency_us) FROM digest GROUP BY kind ORDER BY 2 DESC, kind";
    all(connection, sql, [], |row| {
        Ok(KindRow { kind: row.get(0)?, statements: row.get(1)?, latency_us: row.get(2)? })
    })
}

fn digests(connection: &Connection, order: Order, digests_max: usize) -> rusqlite::Result<Vec<DigestRow>> {
    let by = match order {
        Order::Time => "latency_us DESC, statements DESC",
        Order::Number => "statements DESC, latency_us DESC",
    };
    let sql = format!(
        "SELECT hash, text, kind, statements, errors, timed, latency_us, latency_us_max, rows_sent, rows_examined, \
         rows_affected FROM digest ORDER BY {by}, hash LIMIT ?"
    );
    let most = i64::try_from(digests_max).unwrap_or(i64::MAX);
    all(connection, &sql, [most], |row| {
        Ok(DigestRow {
            hash: row.get(0)?,
            text: row.get(1)?,
            kind: row.get(2)?,
            statements: row.get(3)?,
            errors: row.get(4)?,
            timed: row.get(5)?,
            latency_us: row.get(6)?,
            latency_us_max: row.get(7)?,
            rows_sent: row.get(8)?,
            rows_examined: row.get(9)?,
            rows_affected: row.get(10)?,
        })
    })
}

/// Divides the time into equal parts, and returns the counts of each part. Parts in which no statement began are left
/// out.
fn rates(
    connection: &Connection,
    first_s: i64,
    seconds: i64,
    parts_max: usize,
) -> rusqlite::Result<Vec<RateRow>> {
    let parts_max = i64::try_from(parts_max).unwrap_or(i64::MAX).max(1);
    let length = (seconds.max(1) - 1) / parts_max + 1;
    let sql = "SELECT (second - ?1) / ?2, sum(statements), sum(reads), sum(writes), sum(errors), sum(latency_us) \
               FROM second GROUP BY 1 ORDER BY 1";
    all(connection, sql, [first_s, length], |row| {
        let since_first_s = row.get::<_, i64>(0)?.saturating_mul(length);
        Ok(RateRow {
            at_s: first_s.saturating_add(since_first_s),
            seconds: length.min(seconds.saturating_sub(since_first_s)).max(1),
            statements: row.get(1)?,
            reads: row.get(2)?,
            writes: row.get(3)?,
            errors: row.get(4)?,
            latency_us: row.get(5)?,
        })
    })
}

fn gaps(connection: &Connection) -> rusqlite::Result<Vec<Gap>> {
    let sql = "SELECT last + 1, second - last - 1 FROM \
               (SELECT second, lag(second) OVER (ORDER BY second) AS last FROM second) \
               WHERE second - last - 1 >= ? ORDER BY 2 DESC, 1 LIMIT ?";
    all(connection, sql, [GAP_S, GAPS_MAX], |row| Ok(Gap { at_s: row.get(0)?, seconds: row.get(1)? }))
}

fn troubles(connection: &Connection) -> rusqlite::Result<Vec<TroubleRow>> {
    let sql = "SELECT source.name, kind, entries, trouble.lines FROM trouble JOIN source ON source.id = source_id \
               ORDER BY entries DESC, source_id, kind";
    all(connection, sql, [], |row| {
        let lines: String = row.get(3)?;
        Ok(TroubleRow {
            source: row.get(0)?,
            kind: row.get(1)?,
            entries: row.get(2)?,
            lines: serde_json::from_str(&lines).unwrap_or_default(),
        })
    })
}

fn skipped(connection: &Connection) -> rusqlite::Result<Vec<SkippedRow>> {
    let sql = "SELECT command, sum(entries) FROM skipped GROUP BY command ORDER BY 2 DESC, command";
    all(connection, sql, [], |row| Ok(SkippedRow { command: row.get(0)?, entries: row.get(1)? }))
}
