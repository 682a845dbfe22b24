//! Relations: everything in a database that a load could drop. These are tables, views, sequences, and PostgreSQL's
//! schemas.

use std::fmt;

/// The kind of a relation.
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
    /// The kind's name in SQL, as in `DROP …`.
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

/// The identity of a relation. If a relation is dropped and made again under the same name, its identity changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// No other relation ever has this identity.
    Lasting(String),
    /// The server may give the same identity to a relation that was dropped and made again. So this identity counts
    /// only while Dyno uses the database, and not in later runs.
    Passing(String),
}

/// A table, or anything else that a load could drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    pub(super) kind: Kind,
    /// The schema. `None` in MySQL, and for PostgreSQL's schema `public`.
    pub(super) schema: Option<String>,
    pub(super) name: String,
    pub(super) identity: Identity,
}

/// Prints the name for messages, with the kind unless the relation is a table. The name is unique in a database.
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
