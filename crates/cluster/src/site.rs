//! Where tasks run.

use std::path::PathBuf;

use crate::error::ClusterError;

/// Hosts that run tasks.
pub trait Site {
    /// Of these rounds, those whose tasks an earlier process has submitted and that are still to end. They are this
    /// site's from now on.
    ///
    /// # Errors
    /// The site cannot be asked.
    fn adopt(&mut self, rounds: &[u32]) -> Result<Vec<u32>, ClusterError>;

    /// Begins to run rounds.
    ///
    /// # Errors
    /// The site does not take them.
    fn submit(&mut self, rounds: &[u32]) -> Result<(), ClusterError>;

    /// What has happened since the last call. It returns soon.
    ///
    /// # Errors
    /// The site can run no more tasks.
    fn poll(&mut self) -> Result<Vec<TaskEvent>, ClusterError>;

    /// Ends what is left of what was submitted or adopted, and nothing else.
    fn cancel(&mut self);
}

/// What became of a task.
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
    /// An attempt came to nothing.
    Lost {
        round: u32,
        node: Option<String>,
        reason: String,
        /// Whether the site tries it again by itself.
        is_requeued: bool,
    },
    /// Something that people should know of the site.
    Told(String),
}
