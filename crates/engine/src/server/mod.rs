//! A server that was started for this process.

mod error;
mod fault;
mod help;
mod launch;
mod options;

use std::time::Duration;

pub use self::error::{RestartError, ShutdownError, StartError};
pub use self::fault::ServerFault;
pub(crate) use self::launch::{Launch, Lifetime, check, run};
pub use self::options::StartOptions;
use crate::access::Access;
use crate::client::{Client, ClientError, ResultSet, Transport, variables_of};
use crate::folder;
use crate::home::Home;
use crate::installation::Installation;
use crate::path_error::PathError;
use crate::process::ProcessId;

const QUERY_PATIENCE: Duration = Duration::from_secs(60);

/// A running server. It ends, and its data goes, when this is dropped or the process dies, even by `kill -9`.
pub struct Server {
    launch: Launch,
    process: ProcessId,
    access: Access,
}

/// Starts a server with an empty database [`DATABASE`](crate::DATABASE) and returns once it answers.
///
/// # Errors
/// When the options do not fit the engine, or the server ends or stays silent: then with the end of its log, and
/// with nothing left behind.
pub fn start(installation: &Installation, options: StartOptions) -> Result<Server, StartError> {
    let procedure = check(&installation.entry, &options)?;
    let home = Home::create_in(options.place())?;
    let launch = Launch::new(installation, options, procedure, home, Lifetime::WithParent)?;
    let (process, access) = launch.start(&|_, _| Ok(()))?;
    Ok(Server { launch, process, access })
}

impl Server {
    /// How to reach it.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The version that the server itself gives.
    pub fn version(&self) -> &str {
        &self.access.version
    }

    /// Whether its process lives; whether it answers is another question.
    pub fn is_alive(&self) -> bool {
        self.process.is_alive()
    }

    /// The last lines of its log, oldest first.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        self.launch.home.log_tail(lines)
    }

    /// Every setting in effect, as the server names and prints it.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn variables(&self) -> Result<Vec<(String, String)>, ClientError> {
        Ok(variables_of(self.query(self.launch.procedure.variables_query())?))
    }

    /// Logs in as the account that may do everything; no answer may take longer than `patience`.
    ///
    /// # Errors
    /// When the server does not let anyone in.
    pub fn connect(&self, patience: Duration) -> Result<Client, ClientError> {
        Client::connect_by(self.launch.procedure, &self.access, Transport::Socket, patience)
    }

    /// Executes one statement on a connection of its own.
    ///
    /// # Errors
    /// When the server refuses it, or takes longer than a minute.
    pub fn query(&self, sql: &str) -> Result<ResultSet, ClientError> {
        self.connect(QUERY_PATIENCE)?.query(sql)
    }

    /// Reads every table and index of the database once, so that they are in caches as far as these are large enough.
    ///
    /// # Errors
    /// The server does not answer a statement within `patience`, or refuses it.
    pub fn read_tables(&self, patience: Duration) -> Result<(), ClientError> {
        let mut client = self.connect(patience)?;
        let scans = client.query(self.launch.procedure.scans_query())?;
        for scan in scans.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()) {
            client.query(&scan)?;
        }
        Ok(())
    }

    /// Bytes of disk that its data takes.
    pub fn disk_bytes(&self) -> u64 {
        folder::allocated_bytes(&self.access.datadir)
    }

    /// Starts it again on the data it has: after it died, or after ending it. Its port and process change.
    ///
    /// # Errors
    /// As [`start`].
    pub fn restart(&mut self) -> Result<(), StartError> {
        self.end();
        (self.process, self.access) = self.launch.start(&|_, _| Ok(()))?;
        Ok(())
    }

    /// Ends it so that its data needs no recovery, and waits for that; the data stays, and
    /// [`restart`](Self::restart) starts it again.
    ///
    /// # Errors
    /// It was dead already, or ended otherwise than cleanly, or has not ended within `patience`: then it may still be
    /// at it, and its data is not to be copied.
    pub fn shut_down_cleanly(&mut self, patience: Duration) -> Result<(), ShutdownError> {
        let entry = self.launch.installation.entry.to_string();
        if !self.is_alive() {
            return Err(ShutdownError::Dead { entry, log: self.launch.home.last_words() });
        }
        self.launch.lift_io_limits();
        let signal = self.launch.procedure.shutdown_signal();
        let log = || self.launch.home.last_words();
        match self.process.ends_by(signal, self.launch.home.folder(), patience) {
            Some(ended) if ended.is_clean => Ok(()),
            Some(_) => Err(ShutdownError::Failed { entry, log: log() }),
            None => Err(ShutdownError::Slow { entry, seconds: patience.as_secs(), log: log() }),
        }
    }

    /// Ends it cleanly and starts it again on the data it has. Its port and process change.
    ///
    /// # Errors
    /// As [`shut_down_cleanly`](Self::shut_down_cleanly), and as [`start`].
    pub fn restart_cleanly(&mut self, patience: Duration) -> Result<(), RestartError> {
        self.shut_down_cleanly(patience)?;
        Ok(self.restart()?)
    }

    /// Ends it and removes its data.
    ///
    /// # Errors
    /// When the data cannot be removed.
    pub fn stop(self) -> Result<(), PathError> {
        self.end();
        self.launch.home.remove()
    }

    fn end(&self) {
        self.launch.end(self.process);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
