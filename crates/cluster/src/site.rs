//! The hosts that run tasks.

use std::path::PathBuf;

use crate::error::ClusterError;

/// Hosts that run tasks.
pub trait Site {
    /// Takes over the tasks of these rounds that an earlier process submitted and that have not ended. Returns
    /// their rounds.
    ///
    /// # Errors
    /// The site cannot be asked.
    fn adopt(&mut self, rounds: &[u32]) -> Result<Vec<u32>, ClusterError>;

    /// Begins to run rounds.
    ///
    /// # Errors
    /// The site does not accept them.
    fn submit(&mut self, rounds: &[u32]) -> Result<(), ClusterError>;

    /// The events since the last call. Returns without waiting.
    ///
    /// # Errors
    /// The site can run no more tasks.
    fn poll(&mut self) -> Result<Vec<TaskEvent>, ClusterError>;

    /// Ends all remaining tasks that were submitted or adopted, and nothing else.
    fn cancel(&mut self);
}

/// The fate of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    Started {
        round: u32,
        node: String,
    },
    /// Its results file is complete.
    Delivered {
        round: u32,
        file: PathBuf,
    },
    /// An attempt had no result.
    Lost {
        round: u32,
        node: Option<String>,
        reason: String,
        /// Whether the site repeats it by itself.
        is_requeued: bool,
    },
    /// A message about the site for users.
    Told(String),
}
