//! The hosts that run tasks.

use std::path::PathBuf;

use crate::error::ClusterError;

/// Hosts that run tasks.
pub trait Site {
    /// Takes over the tasks of these rounds that an earlier process submitted and that have not ended. Returns the
    /// adopted rounds.
    ///
    /// # Errors
    /// The site does not answer.
    fn adopt(&mut self, rounds: &[u32]) -> Result<Vec<u32>, ClusterError>;

    /// Begins to run rounds.
    ///
    /// # Errors
    /// The site does not accept them.
    fn submit(&mut self, rounds: &[u32]) -> Result<(), ClusterError>;

    /// Returns the events since the last call, without waiting.
    ///
    /// # Errors
    /// The site can run no more tasks.
    fn poll(&mut self) -> Result<Vec<TaskEvent>, ClusterError>;

    /// Ends all remaining tasks that were submitted or adopted, and nothing else.
    fn cancel(&mut self);
}

/// An event in the life of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    Started {
        round: u32,
        node: String,
    },
    /// The task's results file is complete.
    Delivered {
        round: u32,
        file: PathBuf,
    },
    /// An attempt ended without a result.
    Lost {
        round: u32,
        node: Option<String>,
        reason: String,
        /// Whether the site repeats the attempt by itself.
        is_requeued: bool,
    },
    /// A message about the site for users.
    Told(String),
}
