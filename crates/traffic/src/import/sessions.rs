//! Open sessions.

use std::collections::HashMap;

use foldhash::quality::RandomState;

use crate::file::{Chunk, NewStatement, Writer};
use crate::sql::{Dialect, Kind};

/// Largest number of sessions in memory. If a log does not show when sessions end, their number only grows. Beyond
/// this number, sessions that were quiet for longest are forgotten.
const SESSIONS_MAX: usize = 200_000;

/// An open session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: i64,
    pub(super) user: Option<Box<[u8]>>,
    pub(super) database_id: Option<i64>,
    pub(super) statements: u64,
    /// Offset of the session's last statement, in µs.
    pub(super) last_us: i64,
    /// Offset of the end of the session's last statement, in µs.
    pub(super) until_us: i64,
    /// The session's statements that are not in the file yet.
    pub(super) chunk: Chunk,
    pub(super) open: Option<Open>,
    transactions: Transactions,
}

/// The last statement of a session, to which later entries may add facts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) digest_id: i64,
    pub(super) at_us: i64,
    pub(super) text: u64,
    pub(super) has_latency: bool,
    pub(super) has_error: bool,
}

/// The number of a session's last transaction, and whether the session is in it.
#[derive(Debug, Default)]
struct Transactions {
    number: i64,
    is_open: bool,
    /// Whether `autocommit` is off.
    is_implicit: bool,
}

impl Session {
    pub(super) fn new(id: i64, user: Option<&[u8]>, database_id: Option<i64>, began_us: i64) -> Self {
        Self {
            id,
            user: user.map(Box::from),
            database_id,
            statements: 0,
            last_us: began_us,
            until_us: began_us,
            chunk: Chunk::default(),
            open: None,
            transactions: Transactions::default(),
        }
    }

    /// Whether a statement of this user may belong to the session. Not every entry names the user.
    pub(super) fn may_be_of(&self, user: Option<&[u8]>) -> bool {
        user.zip(self.user.as_deref()).is_none_or(|(user, known)| user == known)
    }

    /// Adds a statement. Writes the previous statements to the file if they fill a chunk.
    pub(super) fn add(&mut self, new: &NewStatement<'_>, writer: &mut Writer<'_>) -> rusqlite::Result<()> {
        if self.chunk.is_full_with(new) {
            writer.add_chunk(self.id, &mut self.chunk, true)?;
        }
        self.chunk.push(new);
        self.last_us = new.offset_us;
        self.until_us = new.offset_us.saturating_add_unsigned(new.latency_us.unwrap_or(0));
        self.statements += 1;
        Ok(())
    }

    /// The number of the transaction to which a statement belongs.
    pub(super) fn transaction(&mut self, kind: Kind, dialect: Dialect) -> Option<i64> {
        self.transactions.next(kind, dialect)
    }

    /// Records that `autocommit` was set.
    pub(super) fn set_autocommit(&mut self, is_on: bool) {
        self.transactions.is_implicit = !is_on;
        self.transactions.is_open &= !is_on;
    }
}

impl Transactions {
    fn next(&mut self, kind: Kind, dialect: Dialect) -> Option<i64> {
        let begins = match kind {
            // In MySQL, `BEGIN` ends an open transaction. In PostgreSQL, it only causes a warning.
            Kind::Begin => dialect == Dialect::Mysql || !self.is_open,
            Kind::Read | Kind::Write => self.is_implicit && !self.is_open,
            // MySQL commits an open transaction before it executes a definition.
            Kind::Definition if dialect == Dialect::Mysql => {
                self.is_open = false;
                false
            }
            _ => false,
        };
        if begins {
            self.number += 1;
            self.is_open = true;
        }
        let number = self.is_open.then_some(self.number);
        if kind == Kind::End {
            self.is_open = false;
        }
        number
    }
}

/// The value to which a statement sets `autocommit`, from its shape and its literals.
pub(super) fn autocommit(shape: &[u8], literals: Option<&str>) -> Option<bool> {
    const NAME: &[u8] = b"autocommit";
    let at = shape.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
    let value = shape[at + NAME.len()..].trim_ascii_start();
    let value = value.strip_prefix(b":").unwrap_or(value).strip_prefix(b"=")?.trim_ascii();
    if value == b"?" {
        return match literals? {
            "[0]" => Some(false),
            "[1]" => Some(true),
            _ => None,
        };
    }
    let is = |word: &[u8]| value.eq_ignore_ascii_case(word);
    if is(b"off") || is(b"false") {
        return Some(false);
    }
    (is(b"on") || is(b"true")).then_some(true)
}

/// Open sessions, by the server's names for them.
#[derive(Debug, Default)]
pub(super) struct Sessions(HashMap<Vec<u8>, Session, RandomState>);

impl Sessions {
    pub(super) fn get_mut(&mut self, name: &[u8]) -> Option<&mut Session> {
        self.0.get_mut(name)
    }

    pub(super) fn remove(&mut self, name: &[u8]) -> Option<Session> {
        self.0.remove(name)
    }

    /// Adds a session. Returns the sessions that are forgotten to make room.
    pub(super) fn insert(&mut self, name: &[u8], session: Session) -> Vec<Session> {
        let forgotten = if self.0.len() < SESSIONS_MAX { Vec::new() } else { self.forget() };
        self.0.insert(name.to_owned(), session);
        forgotten
    }

    /// Forgets the half of the sessions that was quiet for longest.
    fn forget(&mut self) -> Vec<Session> {
        let mut quiet: Vec<i64> = self.0.values().map(|session| session.last_us).collect();
        let middle = quiet.len() / 2;
        let (_, &mut until_us, _) = quiet.select_nth_unstable(middle);
        self.0.extract_if(|_, session| session.last_us <= until_us).map(|(_, session)| session).collect()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.0.values_mut()
    }

    pub(super) fn take_all(&mut self) -> Vec<Session> {
        self.0.drain().map(|(_, session)| session).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_lasts_from_its_begin_to_its_end() {
        let mut session = Session::new(1, None, None, 0);
        let mut next = |kind| session.transaction(kind, Dialect::Mysql);
        let numbers = [Kind::Read, Kind::Begin, Kind::Write, Kind::End, Kind::Read, Kind::Begin, Kind::Begin];
        assert_eq!(numbers.map(&mut next), [None, Some(1), Some(1), Some(1), None, Some(2), Some(3)]);
        assert_eq!([Kind::Definition, Kind::Write].map(next), [None, None]);
    }

    #[test]
    fn without_autocommit_each_statement_is_in_a_transaction() {
        let mut session = Session::new(1, None, None, 0);
        session.set_autocommit(false);
        let kinds = [Kind::Session, Kind::Read, Kind::Write, Kind::End, Kind::Write];
        let numbers = kinds.map(|kind| session.transaction(kind, Dialect::Mysql));
        assert_eq!(numbers, [None, Some(1), Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn autocommit_is_set_in_every_way() {
        for (shape, literals, is_on) in [
            ("SET autocommit=?", Some("[0]"), Some(false)),
            ("SET @@session.autocommit = ?", Some("[1]"), Some(true)),
            ("set AUTOCOMMIT = OFF", None, Some(false)),
            ("SET autocommit := on", None, Some(true)),
            ("SET names utf8mb4", None, None),
        ] {
            assert_eq!(autocommit(shape.as_bytes(), literals), is_on, "{shape}");
        }
    }
}
