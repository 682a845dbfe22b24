//! Statements that are not part of a mix.

use std::collections::BTreeMap;
use std::fmt;

use crate::replay::NotSent;
use crate::sql::{Dialect, Kind, Words};

/// The reason why statements are not part of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A replay would not send the statements, so a mix does not contain them either.
    NotSent(NotSent),
    /// `SET`, `PREPARE`, cursors and similar statements, and maintenance. They depend on the state of a session or
    /// a server, or change it.
    Session,
    /// Statements that create, change or drop tables and other objects.
    Definition,
    /// `XA` and prepared transactions.
    TwoPhase,
    /// `BEGIN` and `COMMIT` in a table of digests. Such a table does not show the statements between them.
    Transaction,
    /// Statements of a transaction that is too long or has too many values.
    Long,
    /// Statements whose values are not in the log, or whose digest was cut off.
    Incomplete,
    /// Statements of a transaction that is not one of the most frequent ones.
    Rare,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSent(NotSent::ClientData) => "read data from the client",
            Self::NotSent(NotSent::Database) => "choose a database",
            Self::NotSent(NotSent::Server) => "change more than their database",
            Self::NotSent(NotSent::Redacted | NotSent::Disconnected) => "cannot be sent again",
            Self::Session => "change or need their session, or maintain tables",
            Self::Definition => "make, change or drop tables and other objects",
            Self::TwoPhase => "belong to two-phase commits",
            Self::Transaction => "begin or end transactions; digests do not say what stood between them",
            Self::Long => "are in transactions with too many statements or values",
            Self::Incomplete => "lack values or were cut off",
            Self::Rare => "are in rare transactions (--transactions)",
        })
    }
}

/// Number of statements that are left out, by reason.
pub type LeftOuts = BTreeMap<LeftOut, u64>;

/// The role of a statement in a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Send,
    Begin,
    End,
    Left(LeftOut),
}

impl Role {
    /// The role of a statement of this shape.
    pub(super) fn of(shape: &str, dialect: Dialect) -> Self {
        if let Some(why) = NotSent::of(shape.as_bytes(), dialect) {
            return Self::Left(LeftOut::NotSent(why));
        }
        let mut words = Words::of(shape.as_bytes());
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_two_phase = match first.as_str() {
            "xa" => true,
            "prepare" => second == "transaction",
            "commit" | "rollback" => second == "prepared",
            _ => false,
        };
        if is_two_phase {
            return Self::Left(LeftOut::TwoPhase);
        }
        match Kind::of(shape.as_bytes()) {
            Kind::Read if first != "fetch" => Self::Send,
            Kind::Write | Kind::Transaction => Self::Send,
            Kind::Other if matches!(first.as_str(), "call" | "do") => Self::Send,
            Kind::Begin => Self::Begin,
            Kind::End => Self::End,
            Kind::Definition => Self::Left(LeftOut::Definition),
            Kind::Read | Kind::Session | Kind::Other => Self::Left(LeftOut::Session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_need_or_change_more_than_rows_are_left_out() {
        let left = Role::Left;
        for (shape, role) in [
            ("SELECT a FROM t WHERE b = ?", Role::Send),
            ("INSERT INTO t VALUES (?)", Role::Send),
            ("CALL p(?)", Role::Send),
            ("SAVEPOINT a", Role::Send),
            ("BEGIN", Role::Begin),
            ("START TRANSACTION READ ONLY", Role::Begin),
            ("COMMIT", Role::End),
            ("ROLLBACK", Role::End),
            ("FETCH ? FROM c", left(LeftOut::Session)),
            ("SET NAMES utf8mb4", left(LeftOut::Session)),
            ("VACUUM t", left(LeftOut::Session)),
            ("DROP TABLE t", left(LeftOut::Definition)),
            ("XA START ?", left(LeftOut::TwoPhase)),
            ("PREPARE TRANSACTION ?", left(LeftOut::TwoPhase)),
            ("ROLLBACK PREPARED ?", left(LeftOut::TwoPhase)),
            ("COPY t FROM STDIN", left(LeftOut::NotSent(NotSent::ClientData))),
        ] {
            assert_eq!(Role::of(shape, Dialect::Postgresql), role, "{shape}");
        }
    }
}
