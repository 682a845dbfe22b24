//! How connections to a server log in.

use std::fmt;
use std::sync::Arc;

use dyno_wire::{Client as Protocol, Login, TlsMode as WireTls, mysql, pgsql};
use rustls::ClientConfig;

use crate::address::ServerAddress;
use crate::tls::{self, Tls, TlsError, TlsMode};

/// The protocol that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The protocol of MySQL and MariaDB. The field says which compression the client may use.
    Mysql(mysql::Compression),
    Pgsql,
}

/// How connections log in, and how they are encrypted.
#[derive(Clone)]
pub struct Account {
    dialect: Dialect,
    login: Login,
    tls: Option<Arc<ClientConfig>>,
    /// Whether connections require a verified certificate.
    verifies: bool,
}

impl Dialect {
    /// MySQL's protocol without compression.
    pub const MYSQL: Self = Self::Mysql(mysql::Compression::NONE);
}

impl Account {
    /// Creates an account whose connections are not encrypted. [`encrypted`](Self::encrypted) changes that.
    pub fn new(dialect: Dialect, login: Login) -> Self {
        Self { dialect, login: Login { tls: WireTls::Disabled, ..login }, tls: None, verifies: false }
    }

    /// Returns the account with its connections encrypted as `tls` says. Reads the files that `tls` names.
    ///
    /// # Errors
    /// A file cannot be used, or the options contradict each other.
    pub fn encrypted(mut self, tls: &Tls) -> Result<Self, TlsError> {
        self.tls = tls::config(tls)?;
        self.verifies = tls.mode.verifies();
        self.login.tls = match tls.mode {
            TlsMode::Disabled => WireTls::Disabled,
            TlsMode::Preferred => WireTls::Preferred,
            TlsMode::Required | TlsMode::VerifyCa | TlsMode::VerifyIdentity => WireTls::Required,
        };
        Ok(self)
    }

    pub(crate) fn tls(&self) -> Option<&Arc<ClientConfig>> {
        self.tls.as_ref()
    }

    /// Creates the protocol state of a new connection. `number` is the index of the server's address in `address`.
    pub(crate) fn protocol(&self, address: &ServerAddress, number: usize) -> Box<dyn Protocol> {
        let login = Login {
            local: address.is_unix(number),
            known: self.verifies || address.is_on_this_host(number),
            ..self.login.clone()
        };
        match self.dialect {
            Dialect::Pgsql => Box::new(pgsql::Connection::new(login)),
            Dialect::Mysql(mysql::Compression::NONE) => Box::new(mysql::Connection::new(login)),
            Dialect::Mysql(compression) => Box::new(mysql::Compressed::new(login, compression)),
        }
    }
}

/// Prints no password.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("dialect", &self.dialect)
            .field("user", &self.login.user)
            .finish_non_exhaustive()
    }
}
