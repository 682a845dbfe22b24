//! Why rounds cannot be run on other hosts.

use std::io;
use std::path::PathBuf;

use dyno_lab::RunError;
use dyno_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A program of the scheduler, or `ssh`, cannot be started.
    #[error("cannot start `{program}`; install it, or run this where it is")]
    NoTool { program: &'static str, source: io::Error },
    /// A program of the scheduler failed.
    #[error("`{program}` failed: {reason}")]
    Tool { program: &'static str, reason: String },
    /// The tasks' folder beside the results file cannot be used.
    #[error("cannot use {}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    /// No host remains that can run tasks.
    #[error("no host is left: {reason}; when a host is back, continue with --resume")]
    NoHost { reason: String },
    /// Rounds were lost too often.
    #[error("{} failed {attempts} times, the last time because {reason}; the logs are in {}, --resume tries again", rounds_in_words(rounds), logs.display())]
    RoundsLost {
        /// The lost rounds, counted from 0. There is at least one.
        rounds: Vec<u32>,
        attempts: usize,
        /// Reason of the last loss.
        reason: String,
        logs: PathBuf,
    },
}

/// Formats rounds as `round 3` or `rounds 3, 5`. Messages count rounds from 1.
fn rounds_in_words(rounds: &[u32]) -> String {
    let numbers: Vec<String> = rounds.iter().map(|round| (round + 1).to_string()).collect();
    format!("{} {}", if numbers.len() == 1 { "round" } else { "rounds" }, numbers.join(", "))
}
