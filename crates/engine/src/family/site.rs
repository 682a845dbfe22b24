//! The inputs for starting a server, and the steps of starting and querying that differ between families.

use std::fmt::Debug;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_client::Dialect;
use dyno_host::{Fence, FenceError};
use rustix::process::Signal;

use crate::cache::home::Home;
use crate::cache::installation::Installation;
use crate::catalogue::entry::Entry;
use crate::machine::path_error::PathError;
use crate::replication::role::Role;
use crate::start::access::HOST;
use crate::start::server::error::StartError;

/// The inputs for starting a server: installation, home, settings and role.
pub(crate) struct Site<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) home: &'a Home,
    /// Default storage engine. `None` for the server's own default.
    pub(crate) storage_engine: Option<&'a str>,
    /// The catalogue's settings, then the user's. Later values of a variable override earlier ones.
    pub(crate) settings: &'a [(String, String)],
    pub(crate) port: u16,
    /// The address on which the server takes connections from other hosts. `None` if only this host may connect.
    pub(crate) listen: Option<IpAddr>,
    /// The server's role in replication.
    pub(crate) role: &'a Role,
    pub(crate) password: &'a str,
}

impl Site<'_> {
    /// The address that the server listens on.
    pub(crate) fn address(&self) -> String {
        self.listen.map_or_else(|| HOST.to_owned(), |listen| listen.to_string())
    }

    pub(crate) fn entry(&self) -> &Entry {
        &self.installation.entry
    }

    pub(crate) fn path(&self, inside: &Path) -> PathBuf {
        self.installation.path(inside)
    }

    /// Returns the fence for the server's programs: inside it, they have no capabilities, and run as an unprivileged
    /// account instead of root.
    pub(crate) fn fence(&self) -> Result<Fence, FenceError> {
        self.installation.fence(&self.folders())
    }

    /// The folders that the server's programs write to.
    pub(crate) fn folders(&self) -> Vec<&Path> {
        let [home, data] = self.home.places();
        let mut folders = vec![home, self.home.sockets()];
        // A data folder inside the home is covered by the home. It may not exist yet, so it is not listed.
        if !data.starts_with(home) {
            folders.push(data);
        }
        folders
    }

    /// Returns a command for a program of the installation, with the libraries that came with it.
    pub(crate) fn program(&self, path: &Path) -> Command {
        let mut command = self.installation.program(path);
        command.current_dir(self.home.folder());
        command
    }
}

/// The steps of starting and querying a server that differ between families.
pub(crate) trait Procedure: Sync + Debug {
    /// Returns the name of the superuser.
    fn user(&self) -> &'static str;

    /// Returns the file name of the socket of a server with this port.
    fn socket_name(&self, port: u16) -> String;

    /// Settings that Dyno sets itself. Their names are written with `_` instead of `-`.
    fn own_settings(&self) -> &'static [&'static str];

    /// The signal that stops a server fastest without leaving anything in the system. Its data may be lost.
    fn end_signal(&self) -> Signal {
        Signal::KILL
    }

    /// The signal for a clean shutdown, after which the data needs no recovery.
    fn shutdown_signal(&self) -> Signal {
        Signal::TERM
    }

    /// Creates the data folder of a new server.
    fn initialize(&self, site: &Site<'_>) -> Result<(), StartError>;

    /// Adapts the data folder of an earlier server, which may have another password. Does nothing for families
    /// whose accounts are created when the server starts.
    fn adopt(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// Adapts the copy of a data folder that somebody else's server wrote. A server on this copy must not connect to
    /// other servers, nor run commands that the data's owner has configured.
    fn take_over(&self, site: &Site<'_>) -> Result<(), StartError>;

    /// The command that runs the server. It contains no password, because command lines are public.
    fn server(&self, site: &Site<'_>) -> Result<Command, PathError>;

    /// Removes files that were only needed until the server answered.
    fn tidy(&self, _home: &Home) -> Result<(), PathError> {
        Ok(())
    }

    /// The protocol that the family's servers speak.
    fn dialect(&self) -> Dialect;

    /// A query for the server's version.
    fn version_query(&self) -> &'static str;

    /// A query for names and values of all variables.
    fn variables_query(&self) -> &'static str;

    /// A query for statements that each read one table or index of the database.
    fn scans_query(&self) -> &'static str;

    /// The prefix of the names of log files that the server overwrites in pieces smaller than a page, through the page
    /// cache. If a page is not cached, a write must first read it.
    fn overwritten_logs(&self) -> Option<&'static str> {
        None
    }

    /// The command that prints the program's defaults, for families whose servers do not report their defaults.
    fn help(&self, _site: &Site<'_>) -> Option<Command> {
        None
    }
}
