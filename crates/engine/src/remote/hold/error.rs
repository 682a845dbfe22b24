//! Why a load may not begin on a running server.

use dyno_client::ClientError;
use thiserror::Error;

use crate::remote::RemoteError;

/// Limit of the names that a message lists.
const NAMES_MAX: usize = 10;

/// Why a database of a running server may not be loaded. The error never contains the password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HoldError {
    /// The server cannot be used.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The server refuses a statement.
    #[error("cannot record what Dyno creates in {database}: {source}")]
    Client { database: String, source: ClientError },
    /// The database contains tables that no run of Dyno has made.
    #[error(
        "{database} holds what no run of Dyno has made, and a load could drop it: {}; name an empty database, or name none, \
         for Dyno to make one and drop it, or write `may_drop = true` in the system or --may-drop if it may be dropped",
        listed(names)
    )]
    Foreign {
        database: String,
        /// The names of the tables that no run of Dyno has made.
        names: Vec<String>,
    },
    /// Somebody else made tables while Dyno used the database.
    #[error(
        "{database} contains objects that were not there when the run began and that Dyno did not create: {}; nothing more is loaded there",
        listed(names)
    )]
    Came {
        database: String,
        /// The names of the tables that somebody else made.
        names: Vec<String>,
    },
    /// Another run holds the database.
    #[error("another run of Dyno uses {database}; wait for its end, or name another database")]
    InUse { database: String },
    /// There is a table `dyno_mark`, but this version of Dyno did not write its content.
    #[error(
        "the table dyno_mark in {database} is not one of this version of Dyno; name another database, or drop the table"
    )]
    StrangeMark { database: String },
    /// The account may not make databases.
    #[error(
        "cannot make a database on {dsn}: {source}; name an empty database in the dsn, or let the account make databases"
    )]
    NotMade { dsn: String, source: ClientError },
}

/// Joins the first names, and says how many more there are.
fn listed(names: &[String]) -> String {
    let first = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
