//! Families of engines.

use serde::{Deserialize, Serialize};

/// A family of engines that are started and queried alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// MySQL and its forks other than MariaDB.
    Mysql,
    Mariadb,
    Postgres,
    /// SQLite, which runs inside the load process.
    Sqlite,
}

impl Family {
    /// Whether there is a server to fetch and start.
    pub fn has_server(self) -> bool {
        self != Self::Sqlite
    }

    /// The engine after which the family is named.
    pub(crate) fn engine(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Mariadb => "mariadb",
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        }
    }
}
