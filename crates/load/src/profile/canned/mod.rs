//! A server without data, which answers each statement with the bytes that a real server would send for it.
//!
//! It knows the statements of sysbench's OLTP scripts by their words. It checks nothing, so that its work is small.

mod mysql;
mod pgsql;

use crate::protocol::job::Protocol;

/// The text of column `c` of sysbench's tables.
const C: &[u8] = b"68487932199-96439406143-93774651418-41631865787-96406072701-20604855487-25459966574-28203206787-41238978918-19503783441";
/// The text of a sum over column `k`.
const SUM: &[u8] = b"2516789";

/// Rows of a range of sysbench's OLTP scripts.
const RANGE_ROWS: usize = 100;

/// One connection's server.
pub(crate) struct Canned {
    dialect: Dialect,
    /// The beginning of a message whose end has not come.
    heard: Vec<u8>,
}

enum Dialect {
    Mysql(mysql::Server),
    Pgsql(pgsql::Server),
}

/// What a statement is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Rows of column `c`.
    Rows(usize),
    /// One row with a sum.
    Sum,
    /// Rows that were changed.
    Changed(u8),
}

impl Canned {
    /// A server at the beginning of a connection. What it says unasked is appended to `out`.
    pub(crate) fn open(protocol: Protocol, out: &mut Vec<u8>) -> Self {
        let dialect = match protocol {
            Protocol::Pgsql => Dialect::Pgsql(pgsql::Server::default()),
            Protocol::Mysql | Protocol::Sqlite => Dialect::Mysql(mysql::Server::open(out)),
        };
        Self { dialect, heard: Vec::new() }
    }

    /// Takes bytes of the client, and appends the answer to `out`.
    pub(crate) fn hear(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.heard.is_empty() {
            let taken = self.dialect.take(bytes, out);
            self.heard.extend_from_slice(&bytes[taken..]);
        } else {
            self.heard.extend_from_slice(bytes);
            let taken = self.dialect.take(&self.heard, out);
            self.heard.drain(..taken);
        }
    }
}

impl Dialect {
    /// Answers complete messages. Returns their length.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        match self {
            Self::Mysql(server) => server.take(bytes, out),
            Self::Pgsql(server) => server.take(bytes, out),
        }
    }
}

impl Answer {
    /// The answer to a statement.
    fn of(sql: &[u8]) -> Self {
        let has = |word: &[u8]| sql.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
        let begins = |word: &[u8]| sql.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word));
        if begins(b"SELECT") {
            return match (has(b"SUM("), has(b"BETWEEN")) {
                (true, _) => Self::Sum,
                (false, true) => Self::Rows(RANGE_ROWS),
                (false, false) => Self::Rows(1),
            };
        }
        Self::Changed(u8::from(begins(b"UPDATE") || begins(b"DELETE") || begins(b"INSERT")))
    }

    /// The text of its rows, and their number; `None` without a result set.
    fn rows(self) -> Option<(&'static [u8], usize)> {
        match self {
            Self::Rows(rows) => Some((C, rows)),
            Self::Sum => Some((SUM, 1)),
            Self::Changed(_) => None,
        }
    }

    /// The name of its column.
    fn column(self) -> &'static [u8] {
        if self == Self::Sum { b"SUM(k)" } else { b"c" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_known_by_their_words() {
        let cases: [(&[u8], Answer); 6] = [
            (b"SELECT c FROM sbtest1 WHERE id=?", Answer::Rows(1)),
            (b"select c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", Answer::Rows(100)),
            (b"SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 100", Answer::Sum),
            (b"UPDATE sbtest1 SET k=k+1 WHERE id=?", Answer::Changed(1)),
            (b"BEGIN", Answer::Changed(0)),
            (b"", Answer::Changed(0)),
        ];
        for (sql, answer) in cases {
            assert_eq!(Answer::of(sql), answer, "{}", sql.escape_ascii());
        }
    }
}
