//! How the engines of each family are set up, started and asked: one file a family.

mod mariadb;
mod mysql;
mod mysqld;
mod postgres;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_wire::{Client as Protocol, Login};
use rustix::process::Signal;

use crate::account::Account;
use crate::entry::{Entry, Family};
use crate::home::Home;
use crate::installation::Installation;
use crate::path_error::PathError;
use crate::server::StartError;

/// What a server is started with.
pub(crate) struct Site<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) home: &'a Home,
    /// What tables are to be kept in; none leaves the server's default.
    pub(crate) storage_engine: Option<&'a str>,
    /// The catalogue's settings, then the user's: of two for the same variable the later counts.
    pub(crate) settings: &'a [(String, String)],
    pub(crate) port: u16,
    pub(crate) password: &'a str,
}

impl Site<'_> {
    pub(crate) fn entry(&self) -> &Entry {
        &self.installation.entry
    }

    pub(crate) fn path(&self, inside: &Path) -> PathBuf {
        self.installation.path(inside)
    }

    /// A program of the installation, with the libraries that came with it.
    pub(crate) fn program(&self, path: &Path) -> Command {
        let mut command = self.installation.program(path);
        command.current_dir(self.home.folder());
        command
    }
}

/// What differs between families.
pub(crate) trait Procedure: Sync + Debug {
    /// The account that may do everything.
    fn user(&self) -> &'static str;

    /// The socket's name for a port.
    fn socket_name(&self, port: u16) -> String;

    /// Settings that Dyno makes itself, with `_` for `-`.
    fn own_settings(&self) -> &'static [&'static str];

    /// The account that the server runs as; none means this process's own.
    fn account(&self) -> Option<Account> {
        None
    }

    /// The quickest end that leaves nothing in the system; data is thrown away, so nothing need be flushed.
    fn end_signal(&self) -> Signal {
        Signal::KILL
    }

    /// Asks for a clean end: all that was written is in the data's own files, nothing is left to recover.
    fn shutdown_signal(&self) -> Signal {
        Signal::TERM
    }

    /// Makes the data folder of a new server.
    fn initialize(&self, site: &Site<'_>) -> Result<(), StartError>;

    /// Makes a data folder of an earlier server this one's. Accounts are made at the start where that can be.
    fn adopt(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// The command that runs the server. Its line can be seen by everyone, so it holds no password.
    fn server(&self, site: &Site<'_>) -> Result<Command, PathError>;

    /// Takes away what was only needed until the server answered.
    fn tidy(&self, _home: &Home) -> Result<(), PathError> {
        Ok(())
    }

    /// The client side of the family's protocol.
    fn protocol(&self, login: Login) -> Box<dyn Protocol>;

    /// A query that gives the server's version.
    fn version_query(&self) -> &'static str;

    /// A query that gives every setting's name and value.
    fn variables_query(&self) -> &'static str;

    /// A query that gives a statement for each table and index of the database that reads all of it.
    fn scans_query(&self) -> &'static str;

    /// The command that prints the program's own defaults, for families that cannot be asked for them.
    fn help(&self, _site: &Site<'_>) -> Option<Command> {
        None
    }
}

/// The procedure of a family; none for one without a server.
pub(crate) fn procedure(family: Family) -> Option<&'static dyn Procedure> {
    match family {
        Family::Mysql => Some(&mysql::Mysql),
        Family::Mariadb => Some(&mariadb::Mariadb),
        Family::Postgres => Some(&postgres::Postgres),
        Family::Sqlite => None,
    }
}
