//! A server without data, which answers each statement with the bytes that a real server would send for it.
//!
//! It recognises the statements of sysbench's OLTP scripts by their words. It checks nothing, so that its work is
//! small.

mod mysql;
mod pgsql;

use crate::protocol::job::Protocol;

/// The text of column `c` of sysbench's tables.
const C: &[u8] = b"68487932199-96439406143-93774651418-41631865787-96406072701-20604855487-25459966574-28203206787-41238978918-19503783441";
/// The text of a sum over column `k`.
const SUM: &[u8] = b"2516789";

/// Number of rows that a range query of sysbench's OLTP scripts returns.
const RANGE_ROWS: usize = 100;

/// The server's side of one connection.
pub(crate) struct Canned {
    dialect: Dialect,
    /// The beginning of a message whose remaining bytes have not arrived.
    heard: Vec<u8>,
}

enum Dialect {
    Mysql(mysql::Server),
    Pgsql(pgsql::Server),
}

/// The kind of answer to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Rows with the text of column `c`. The field is the number of rows.
    Rows(usize),
    /// One row with a sum.
    Sum,
    /// No rows. The field is the number of changed rows.
    Changed(u8),
}

impl Canned {
    /// Creates the server's side of a new connection. If the server sends the first message, appends it to `out`.
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
    /// Answers the complete messages at the beginning of `bytes`. Returns the length of these messages together.
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

    /// The text in each row, and the number of rows; `None` if there is no result set.
    fn rows(self) -> Option<(&'static [u8], usize)> {
        match self {
            Self::Rows(rows) => Some((C, rows)),
            Self::Sum => Some((SUM, 1)),
            Self::Changed(_) => None,
        }
    }

    /// The name of the result's only column.
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
