//! A running server, which Dyno neither starts nor stops nor confines.

mod dsn;

use std::env;
use std::fmt;
use std::time::Duration;

use dyno_client::{Account, Client, ClientError, Login, ResultSet, ServerAddress};
use thiserror::Error;

pub use self::dsn::{Dsn, DsnError, RemoteAddress};
use crate::connect::variables_of;
use crate::entry::Family;
use crate::family::{Procedure, procedure};

const CONNECT_PATIENCE: Duration = Duration::from_secs(20);
const QUERY_PATIENCE: Duration = Duration::from_secs(60);

/// A running server, and how to log in.
#[derive(Clone)]
pub struct Remote {
    dsn: Dsn,
    /// In clear.
    password: String,
    family: Family,
    version: String,
}

/// Why a running server cannot be used. The password is never in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// Its password is not where the address says.
    #[error(transparent)]
    Dsn(#[from] DsnError),
    /// It refuses the login.
    #[error("cannot log in to {dsn}: {source}")]
    Client {
        /// Its address, without the password.
        dsn: String,
        source: ClientError,
    },
}

impl Remote {
    /// Logs in to the server of an address and asks for its version. The connection is not encrypted.
    ///
    /// # Errors
    /// The password is not where the address says, or the server refuses the login.
    pub fn connect(dsn: &Dsn) -> Result<Self, RemoteError> {
        let password = dsn.password(&|name| env::var(name).ok())?;
        let mut remote = Self { family: dsn.family, dsn: dsn.clone(), password, version: String::new() };
        remote.greet().map_err(|source| RemoteError::Client { dsn: remote.dsn.to_string(), source })?;
        Ok(remote)
    }

    /// Asks for the version, which tells MySQL from MariaDB. Either address works for both.
    fn greet(&mut self) -> Result<(), ClientError> {
        let rows = self.query(self.procedure()?.version_query())?.rows;
        self.version = rows.into_iter().flatten().flatten().next().unwrap_or_default();
        if self.family != Family::Postgres {
            let is_mariadb = self.version.contains("MariaDB");
            self.family = if is_mariadb { Family::Mariadb } else { Family::Mysql };
        }
        Ok(())
    }

    fn procedure(&self) -> Result<&'static dyn Procedure, ClientError> {
        procedure(self.family).ok_or(ClientError::NoServer)
    }

    pub fn family(&self) -> Family {
        self.family
    }

    /// The version that it gives.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn address(&self) -> &RemoteAddress {
        &self.dsn.address
    }

    /// The account to log in as.
    pub fn user(&self) -> &str {
        &self.dsn.user
    }

    /// Its password, in clear.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The database to use.
    pub fn database(&self) -> &str {
        &self.dsn.database
    }

    /// Logs in. `patience` is the time limit of each answer.
    ///
    /// # Errors
    /// The server refuses the login.
    pub fn open(&self, patience: Duration) -> Result<Client, ClientError> {
        let login = Login {
            user: self.dsn.user.clone(),
            password: self.password.clone(),
            database: self.dsn.database.clone(),
            ..Login::default()
        };
        let address = match &self.dsn.address {
            RemoteAddress::Unix(path) => ServerAddress::unix(path)?,
            RemoteAddress::Tcp { host, port } => ServerAddress::resolve(host, *port)?,
        };
        Client::connect(&Account::new(self.procedure()?.dialect(), login), &address, patience)
    }

    /// Executes one statement on a connection of its own.
    ///
    /// # Errors
    /// The server refuses it, or takes longer than a minute.
    pub fn query(&self, sql: &str) -> Result<ResultSet, ClientError> {
        let mut client = self.open(CONNECT_PATIENCE)?;
        client.set_patience(Some(QUERY_PATIENCE))?;
        client.query(sql)
    }

    /// All variables with their effective values, as the server prints them.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn variables(&self) -> Result<Vec<(String, String)>, ClientError> {
        Ok(variables_of(self.query(self.procedure()?.variables_query())?))
    }
}

/// Its address, without the password.
impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dsn.fmt(f)
    }
}

/// Prints everything but the password.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("dsn", &self.dsn)
            .field("family", &self.family)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
