//! Decides which values of a statement are secrets.
//!
//! A value is a secret by any of these rules:
//!
//! - In statements about accounts and connections (`CREATE USER`, `SET PASSWORD`, `CHANGE MASTER`, `CREATE SERVER`,
//!   …), every string after the words that announce a secret is a secret.
//! - A string is a secret if it directly follows a word such as `password`. Only `=`, `(`, `BY` and similar tokens
//!   may be between them.
//! - A string is a secret if it itself contains a password, such as the body of `DO $$ … $$` or a connection
//!   string.
//!
//! When in doubt, a value counts as a secret. A statement with a secret cannot be replayed, but a secret that is
//! missed would be written to disk.

use super::passwords::{gives_password, names_secret};

/// Words between the name of a secret and its value.
const BETWEEN: [&[u8]; 9] = [b"by", b"as", b"to", b"using", b"with", b"via", b"is", b"for", b"default"];
/// Words that follow `PASSWORD` or `BY` but are not values.
const OPTIONS: [&[u8]; 18] = [
    b"account",
    b"current",
    b"expire",
    b"from",
    b"history",
    b"in",
    b"interval",
    b"language",
    b"lock",
    b"never",
    b"null",
    b"optional",
    b"or",
    b"random",
    b"require",
    b"reuse",
    b"unlock",
    b"where",
];

/// Which strings of a statement are secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reach {
    /// Only the value that directly follows the name of a secret.
    #[default]
    Next,
    /// All strings after the name of a secret.
    OnceNamed,
    /// All strings.
    All,
}

/// What the first word of a statement announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum First {
    #[default]
    Other,
    CreateOrAlter,
    Set,
}

/// Follows a statement token by token, and knows whether the next value is a secret.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets {
    /// Number of words so far that show the kind of statement. At most two words do.
    words: u8,
    first: First,
    reach: Reach,
    /// Whether the next value is a secret.
    is_armed: bool,
    /// Whether the next word is a secret if it stands where a value is expected, as in `PASSWORD secret`. Servers
    /// refuse such a statement, but log it.
    is_due: bool,
    /// The secrets among the values that were sent separately from the text. Each value has a bit ([`bit`]).
    pub(super) bound: u64,
}

/// The bit of a value that was sent separately from the text. `number` counts these values from 1. Values from
/// number 63 on share the last bit.
pub(super) fn bit(number: u32) -> u64 {
    1 << number.min(63)
}

impl Secrets {
    /// Reads a word. Returns whether the word must not be kept.
    pub(super) fn word(&mut self, word: &[u8]) -> bool {
        let is = |other: &[u8]| word.eq_ignore_ascii_case(other);
        if self.words < 2 && !is(b"or") && !is(b"replace") {
            self.words += 1;
            self.begin(word);
        }
        // `mapping` occurs in `CREATE USER MAPPING … OPTIONS (password '…')`.
        if self.first == First::CreateOrAlter && is(b"mapping") {
            self.reach = Reach::All;
        }
        if is(b"identified") {
            (self.reach, self.is_armed, self.is_due) = (Reach::All, true, false);
            return false;
        }
        if names_secret(word) {
            if self.reach == Reach::OnceNamed {
                self.reach = Reach::All;
            }
            (self.is_armed, self.is_due) = (true, self.reach == Reach::All && is(b"password"));
            return false;
        }
        if !self.is_armed {
            return false;
        }
        let is_between = self.is_between(word);
        let is_value = self.is_due && !is_between && !OPTIONS.iter().any(|other| is(other));
        self.is_armed = is_between;
        self.is_due = is_between && (is(b"by") || is(b"as")) && self.reach == Reach::All;
        is_value
    }

    fn is_between(&self, word: &[u8]) -> bool {
        // A word with an underscore may be the plugin in `IDENTIFIED WITH plugin BY`.
        let is_plugin = self.reach == Reach::All && !self.is_due && word.contains(&b'_');
        is_plugin || BETWEEN.iter().any(|other| word.eq_ignore_ascii_case(other))
    }

    /// Reads one of the words that show the kind of statement.
    fn begin(&mut self, word: &[u8]) {
        let is_one_of = |words: &[&[u8]]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
        if self.words == 1 {
            if is_one_of(&[b"create", b"alter"]) {
                self.first = First::CreateOrAlter;
            } else if is_one_of(&[b"set"]) {
                self.first = First::Set;
            } else if is_one_of(&[b"grant", b"change", b"start"]) {
                self.reach = Reach::OnceNamed;
            }
            return;
        }
        self.reach = match self.first {
            First::CreateOrAlter if is_one_of(&[b"user", b"role", b"group", b"system", b"database"]) => {
                Reach::OnceNamed
            }
            First::CreateOrAlter if is_one_of(&[b"server", b"subscription"]) => Reach::All,
            First::Set if names_secret(word) => Reach::All,
            _ => self.reach,
        };
    }

    /// Reads any other token of one byte, or the quote of a quoted name.
    pub(super) fn symbol(&mut self, symbol: u8) {
        match symbol {
            b';' => *self = Self { bound: self.bound, ..Self::default() },
            b'=' | b':' => self.is_due = self.is_armed && self.reach == Reach::All,
            b'(' | b'@' => {}
            _ => {
                self.disarm();
            }
        }
    }

    /// Prepares for the next statement.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether no placeholder of the statement stands for a secret, and no open rule would make a further value a
    /// secret.
    pub(super) fn are_none(&self) -> bool {
        self.bound == 0 && !self.is_armed && self.reach != Reach::All
    }

    /// Whether a quoted name stands where a secret is expected, and is therefore a secret.
    pub(super) fn takes_name(&mut self) -> bool {
        self.disarm() && self.reach == Reach::All
    }

    /// Returns whether the previous word announced the next value as a secret, and clears this state.
    fn disarm(&mut self) -> bool {
        self.is_due = false;
        std::mem::take(&mut self.is_armed)
    }

    /// Whether a string is a secret. `text` is the string as it is written in the statement.
    pub(super) fn takes_string(&mut self, text: &[u8]) -> bool {
        self.disarm() || self.reach == Reach::All || gives_password(text)
    }

    /// Reads the placeholder of a value that was sent separately from the text.
    pub(super) fn placeholder(&mut self, number: u32) {
        if self.disarm() || self.reach == Reach::All {
            self.bound |= bit(number);
        }
    }
}
