//! What a database holds that a load could drop: tables, views, sequences, and PostgreSQL's schemas.

use std::fmt;

/// What kind of thing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Table,
    View,
    MaterializedView,
    ForeignTable,
    Sequence,
    Schema,
}

impl Kind {
    /// Its name in SQL, as in `DROP …`.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Table => "TABLE",
            Self::View => "VIEW",
            Self::MaterializedView => "MATERIALIZED VIEW",
            Self::ForeignTable => "FOREIGN TABLE",
            Self::Sequence => "SEQUENCE",
            Self::Schema => "SCHEMA",
        }
    }
}

/// By what a relation is known again: one that was dropped and made anew under the same name has another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// No other relation ever has it.
    Lasting(String),
    /// The server does not tell one from the other. It serves while Dyno watches, and is not believed later.
    Passing(String),
}

/// A table, or what a load could drop as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    pub(super) kind: Kind,
    /// None in MySQL, and for PostgreSQL's `public`.
    pub(super) schema: Option<String>,
    pub(super) name: String,
    pub(super) identity: Identity,
}

/// Its name as people see it, with its kind unless it is a table. No two relations of a database have the same.
impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind != Kind::Table {
            write!(f, "{} ", self.kind.sql().to_lowercase())?;
        }
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.name)
    }
}
