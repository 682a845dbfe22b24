//! SQL as text: separates the part of a statement that stays the same from its values.

mod class;
mod digest;
mod kind;
mod literals;
mod normalizer;
mod number;
mod passwords;
mod secrets;
mod strings;
mod template;
#[cfg(test)]
mod tests;

pub use self::digest::digest_text;
pub use self::kind::Kind;
pub(crate) use self::kind::Words;
pub use self::normalizer::{Normalized, Normalizer, rebuilt, rebuilt_to_prepare};
pub(crate) use self::normalizer::{append_literal, bytes, literal_begin};
pub use self::template::Template;

/// The product whose rules for quotes and comments apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// MySQL and MariaDB with their default `sql_mode`: `"…"` is a string, and a backslash escapes.
    Mysql,
    /// PostgreSQL with `standard_conforming_strings`, the default since 9.1: `"…"` is a name, and a backslash is an
    /// ordinary character outside `E'…'`.
    Postgresql,
}

impl Dialect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Postgresql => "postgresql",
        }
    }
}
