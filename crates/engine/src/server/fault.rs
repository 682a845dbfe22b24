//! Whether a server that ran still works.

use std::time::Duration;

use thiserror::Error;

use super::Server;
use crate::client::ClientError;
use crate::lines;
use crate::process;

/// How long a process that was just killed may take to be gone, after its connections are.
const DYING: Duration = Duration::from_secs(2);

/// What has become of a server that does not work any more.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerFault {
    /// Its process has ended.
    #[error("{entry} died ({status}); its last words:{}", lines::below(log))]
    Died {
        /// The entry.
        entry: String,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// Its process is there and does not answer.
    #[error("{entry} does not answer ({reason}, waited {seconds} s); its last words:{}", lines::below(log))]
    Hung {
        /// The entry.
        entry: String,
        /// How long it was waited for.
        seconds: u64,
        /// What the attempt came to.
        reason: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
}

impl Server {
    /// Says whether it answers within a time.
    ///
    /// # Errors
    /// It died, or does not answer: with the end of its log.
    pub fn check(&self, patience: Duration) -> Result<(), ServerFault> {
        let answer = self.connect(patience).and_then(|mut client| client.query("SELECT 1"));
        let Err(error) = answer else { return Ok(()) };
        let entry = self.launch.installation.entry.to_string();
        // A connection breaks a moment before the process is gone.
        let is_dead =
            if is_timeout(&error) { !self.is_alive() } else { process::becomes(DYING, || !self.is_alive()) };
        let log = self.launch.home.last_words();
        match error {
            _ if is_dead => {
                Err(ServerFault::Died { entry, status: self.launch.cause_of_end(self.process), log })
            }
            // To refuse is to answer.
            ClientError::Server(_) => Ok(()),
            error => {
                let (seconds, reason) = (patience.as_secs(), error.to_string());
                Err(ServerFault::Hung { entry, seconds, reason, log })
            }
        }
    }
}

fn is_timeout(error: &ClientError) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error, ClientError::Io(error) if matches!(error.kind(), TimedOut | WouldBlock))
}
