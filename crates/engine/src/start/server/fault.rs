//! Finds out why a server has stopped answering.

use std::time::Duration;

use dyno_client::ClientError;
use thiserror::Error;

use super::Server;
use crate::machine::lines;
use crate::machine::process;

/// Time limit for a killed process to end after its connections broke.
const DYING: Duration = Duration::from_secs(2);

/// What happened to a server that no longer works.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerFault {
    /// The server's process has ended.
    #[error("{entry} died ({status}); its last words:{}", lines::below(log))]
    Died {
        entry: String,
        status: String,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
    /// The server's process is alive, but does not answer.
    #[error("{entry} does not answer ({reason}, waited {seconds} s); its last words:{}", lines::below(log))]
    Hung {
        entry: String,
        /// The time limit, in seconds.
        seconds: u64,
        /// The error of the login attempt.
        reason: String,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
}

impl Server {
    /// Checks that the server answers within a time.
    ///
    /// # Errors
    /// The server died, or does not answer. The error has the end of the server's log.
    pub fn check(&self, patience: Duration) -> Result<(), ServerFault> {
        let answer = self.connect(patience).and_then(|mut client| client.query("SELECT 1"));
        let Err(error) = answer else { return Ok(()) };
        let entry = self.launch.installation.entry.to_string();
        // If the connection broke, the process may be about to end, so this waits a moment for its end.
        let is_dead =
            if error.is_timeout() { !self.is_alive() } else { process::becomes(DYING, || !self.is_alive()) };
        let log = self.launch.home.last_words();
        match error {
            _ if is_dead => {
                let status = self.launch.cause_of_end(self.process, self.kills_before);
                Err(ServerFault::Died { entry, status, log })
            }
            // A server that refuses the login or the statement does answer.
            ClientError::Server(_) => Ok(()),
            error => {
                let (seconds, reason) = (patience.as_secs(), error.to_string());
                Err(ServerFault::Hung { entry, seconds, reason, log })
            }
        }
    }
}
