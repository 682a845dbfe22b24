//! What a statement does.

use std::fmt;

use super::class::{is_letter, is_of_word, run};

/// What a statement does, according to its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The statement reads rows, with or without locks.
    Read,
    /// The statement changes rows.
    Write,
    /// `BEGIN` and `START TRANSACTION`.
    Begin,
    /// `COMMIT`, `ROLLBACK` of a whole transaction, and `PREPARE TRANSACTION`.
    End,
    /// Savepoints and the settings of a transaction.
    Transaction,
    /// The statement changes tables, accounts or other objects.
    Definition,
    /// `SET`, `USE`, and other statements that change only the session.
    Session,
    /// `CALL`, `DO`, `EXECUTE`, maintenance, and unknown statements.
    Other,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Write,
        Self::Begin,
        Self::End,
        Self::Transaction,
        Self::Definition,
        Self::Session,
        Self::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Transaction => "transaction",
            Self::Definition => "definition",
            Self::Session => "session",
            Self::Other => "other",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of a statement, from its shape.
    pub fn of(shape: &[u8]) -> Self {
        let mut words = Words::of(shape);
        let first = words.next().unwrap_or_default();
        match first.as_str() {
            "select" | "show" | "table" | "values" | "explain" | "describe" | "desc" | "fetch" | "help" => {
                Self::Read
            }
            "with" => of_with(words),
            "insert" | "update" | "delete" | "replace" | "merge" | "load" | "truncate" => Self::Write,
            "copy" => of_copy(words),
            "begin" => Self::Begin,
            "start" if words.next().is_some_and(|word| word == "transaction") => Self::Begin,
            "xa" => of_xa(words.next().as_deref()),
            "commit" | "abort" | "end" => Self::End,
            "rollback" => of_rollback(words),
            "prepare" if words.next().is_some_and(|word| word == "transaction") => Self::End,
            "savepoint" | "release" => Self::Transaction,
            "set" => of_set(words),
            "create" | "alter" | "drop" | "rename" | "grant" | "revoke" | "comment" | "reindex" => {
                Self::Definition
            }
            "use" | "reset" | "discard" | "listen" | "unlisten" | "prepare" | "deallocate" | "declare"
            | "close" => Self::Session,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `WITH … INSERT` writes. The statement after `WITH` and the named queries are both examined.
fn of_with(mut words: Words<'_>) -> Kind {
    let writes = words.any(|word| matches!(word.as_str(), "insert" | "update" | "delete" | "merge"));
    if writes { Kind::Write } else { Kind::Read }
}

/// `COPY t FROM` writes, and `COPY t TO` reads.
fn of_copy(mut words: Words<'_>) -> Kind {
    match words.find(|word| matches!(word.as_str(), "from" | "to")) {
        Some(word) if word == "from" => Kind::Write,
        _ => Kind::Read,
    }
}

fn of_xa(second: Option<&str>) -> Kind {
    match second {
        Some("start" | "begin") => Kind::Begin,
        Some("commit" | "rollback") => Kind::End,
        Some("recover") => Kind::Read,
        _ => Kind::Transaction,
    }
}

fn of_rollback(mut words: Words<'_>) -> Kind {
    if words.any(|word| word == "to") { Kind::Transaction } else { Kind::End }
}

fn of_set(words: Words<'_>) -> Kind {
    let mut scope = words.skip_while(|word| matches!(word.as_str(), "session" | "local" | "global"));
    if scope.next().is_some_and(|word| word == "transaction") { Kind::Transaction } else { Kind::Session }
}

/// The words of a shape in lower case, without quoted names.
pub(crate) struct Words<'a> {
    shape: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn of(shape: &'a [u8]) -> Self {
        Self { shape, at: 0 }
    }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            match *self.shape.get(self.at)? {
                quote @ (b'"' | b'`') => {
                    let rest = &self.shape[self.at + 1..];
                    self.at += memchr::memchr(quote, rest).map_or(rest.len() + 1, |length| length + 2);
                }
                byte if is_letter(byte) => {
                    let end = run(self.shape, self.at, is_of_word);
                    let word = String::from_utf8_lossy(&self.shape[self.at..end]).to_ascii_lowercase();
                    self.at = end;
                    return Some(word);
                }
                _ => self.at += 1,
            }
        }
    }
}
