//! A running server. Dyno does not start, stop or confine it.

mod dsn;
mod dsn_error;
mod hold;
mod password;
mod tls;
mod trust;

use std::env;
use std::fmt;
use std::time::Duration;

use dyno_client::{
    Account, Client, ClientError, Encryption, EndpointError, Login, ResultSet, ServerAddress, Tls, TlsMode,
    Trust,
};
use thiserror::Error;

pub use self::dsn::{Dsn, RemoteAddress};
pub use self::dsn_error::DsnError;
pub use self::hold::{Hold, HoldError, Left, Survey};
use crate::catalogue::entry::Family;
use crate::family::procedure;
use crate::family::site::Procedure;
use crate::start::connect::variables_of;

const CONNECT_PATIENCE: Duration = Duration::from_secs(20);
const QUERY_PATIENCE: Duration = Duration::from_secs(60);

/// A running server, and how to log in.
#[derive(Clone)]
pub struct Remote {
    dsn: Dsn,
    /// The password in clear text.
    password: String,
    account: Account,
    /// The database that connections use.
    database: String,
    trust: Trust,
    family: Family,
    version: String,
    encryption: Option<Encryption>,
}

/// Why a running server cannot be used. The error never contains the password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The password cannot be read from where the address says.
    #[error(transparent)]
    Dsn(#[from] DsnError),
    /// The server refuses the login.
    #[error("cannot log in to {dsn}: {source}")]
    Client {
        /// The server's address, without the password.
        dsn: String,
        source: ClientError,
    },
    /// The server offers TLS, but TLS fails. The address did not ask for TLS.
    #[error(
        "cannot log in to {dsn}: {source}; the server offers TLS, which is used unless the dsn has {without}"
    )]
    Preferred {
        /// The server's address, without the password.
        dsn: String,
        source: Box<ClientError>,
        /// The parameter that switches TLS off.
        without: String,
    },
}

impl Remote {
    /// Logs in to the server of an address and asks for its version.
    ///
    /// # Errors
    /// The password or a file for TLS is not where the address says, or the server refuses the login.
    pub fn connect(dsn: &Dsn) -> Result<Self, RemoteError> {
        let password = dsn.password(&|name| env::var(name).ok())?;
        let database = dsn.database.clone().unwrap_or_else(|| elsewhere(dsn.family).to_owned());
        let trust = dsn.trust()?;
        let mut remote = Self {
            account: account(dsn, &password, &trust, &database)?,
            database,
            family: dsn.family,
            dsn: dsn.clone(),
            password,
            trust,
            version: String::new(),
            encryption: None,
        };
        remote.greet().map_err(|source| remote.refused(source))?;
        Ok(remote)
    }

    /// Returns this server with another database for its connections.
    ///
    /// # Errors
    /// A file for TLS cannot be read any more.
    fn in_database(&self, database: &str) -> Result<Self, RemoteError> {
        let account = account(&self.dsn, &self.password, &self.trust, database)?;
        Ok(Self { account, database: database.to_owned(), ..self.clone() })
    }

    fn refused(&self, source: ClientError) -> RemoteError {
        let dsn = self.dsn.to_string();
        match source {
            ClientError::Endpoint(EndpointError::Tls(_)) if self.dsn.tls.mode == TlsMode::Preferred => {
                let without = tls::names(self.family).written(TlsMode::Disabled);
                RemoteError::Preferred { dsn, source: Box::new(source), without }
            }
            source => RemoteError::Client { dsn, source },
        }
    }

    /// Asks for the version, which shows whether the server is MySQL or MariaDB. An address with the scheme of one
    /// product may lead to the other product.
    fn greet(&mut self) -> Result<(), ClientError> {
        let mut client = self.open(self.patience())?;
        self.encryption = client.encryption();
        let rows = client.query(self.procedure()?.version_query())?.rows;
        self.version = rows.into_iter().flatten().flatten().next().unwrap_or_default();
        if self.family != Family::Postgres {
            let is_mariadb = self.version.contains("MariaDB");
            self.family = if is_mariadb { Family::Mariadb } else { Family::Mysql };
        }
        Ok(())
    }

    /// The time limit of a login.
    fn patience(&self) -> Duration {
        self.login_limit().unwrap_or(CONNECT_PATIENCE)
    }

    fn procedure(&self) -> Result<&'static dyn Procedure, ClientError> {
        procedure(self.family).ok_or(ClientError::NoServer)
    }

    pub fn family(&self) -> Family {
        self.family
    }

    /// The version that the server reports.
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

    /// Returns the account's password in clear text.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The database to use.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The TLS options of connections.
    pub fn tls(&self) -> &Tls {
        &self.dsn.tls
    }

    /// What a connection reveals to a server that has not proven its identity.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The time limit of a login, if the address has one.
    pub fn login_limit(&self) -> Option<Duration> {
        self.dsn.rules.limit
    }

    /// How connections are encrypted. `None` if they are not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.encryption
    }

    /// Logs in. `patience` is the time limit of each answer.
    ///
    /// # Errors
    /// The server refuses the login.
    pub fn open(&self, patience: Duration) -> Result<Client, ClientError> {
        let address = match &self.dsn.address {
            RemoteAddress::Unix(path) => ServerAddress::unix(path)?,
            RemoteAddress::Tcp { host, port } => ServerAddress::resolve(host, *port)?,
        };
        Client::connect(&self.account, &address, patience)
    }

    /// Executes one statement on a connection of its own.
    ///
    /// # Errors
    /// The server refuses the statement, or takes longer than a minute.
    pub fn query(&self, sql: &str) -> Result<ResultSet, ClientError> {
        let mut client = self.open(self.patience())?;
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

/// Returns the database to connect to while another database is made or dropped.
fn elsewhere(family: Family) -> &'static str {
    match family {
        Family::Postgres => "postgres",
        Family::Mysql | Family::Mariadb | Family::Sqlite => "",
    }
}

fn account(dsn: &Dsn, password: &str, trust: &Trust, database: &str) -> Result<Account, RemoteError> {
    let login = Login {
        user: dsn.user.clone(),
        password: password.to_owned(),
        database: database.to_owned(),
        trust: trust.clone(),
        ..Login::default()
    };
    let no_server = || RemoteError::Client { dsn: dsn.to_string(), source: ClientError::NoServer };
    let procedure = procedure(dsn.family).ok_or_else(no_server)?;
    let account = Account::new(procedure.dialect(), login).encrypted(&dsn.tls);
    Ok(account.map_err(|error| DsnError::TlsFile(error.to_string()))?)
}

/// Prints the server's address without the password.
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
