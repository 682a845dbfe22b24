//! The folder of a run's tasks, beside the results file. On a cluster all nodes must see it.

use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};

use crate::error::ClusterError;

/// Files of a run's tasks: their results, the nodes on which they began, and their logs.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Returns the folder of the run with this results file and spread id. The folder need not exist.
    pub fn of(results: &Path, spread_id: &str) -> Self {
        let mut name = results.file_name().unwrap_or_default().to_owned();
        name.push(".tasks");
        let root = results.with_file_name(name).join(spread_id);
        // Tasks have other working directories, so they need an absolute path.
        Self { root: path::absolute(&root).unwrap_or(root) }
    }

    pub(crate) fn create(&self) -> Result<(), ClusterError> {
        for folder in [self.rounds(), self.starts(), self.logs()] {
            fs::create_dir_all(&folder).map_err(|source| ClusterError::Folder { path: folder, source })?;
        }
        Ok(())
    }

    /// Removes the folder, and its parent if no other run has tasks there.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.root)?;
        if let Some(around) = self.root.parent() {
            // If another run has tasks, the parent folder is not empty. This call then fails, and the folder stays.
            let _ = fs::remove_dir(around);
        }
        Ok(())
    }

    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// The folder of start files. Each start of a task leaves a file, named `ROUND.JOB.RESTART`, that contains the
    /// node's name.
    pub(crate) fn starts(&self) -> PathBuf {
        self.root.join("starts")
    }

    fn rounds(&self) -> PathBuf {
        self.root.join("rounds")
    }

    /// The results file of a round's task. `round` may also be a placeholder, which the caller replaces.
    pub(crate) fn round(&self, round: &str) -> PathBuf {
        self.rounds().join(format!("round-{round}.db"))
    }

    /// Whether the folder contains a delivered file that could not be joined.
    pub(crate) fn has_refused(&self) -> bool {
        let files = fs::read_dir(self.rounds()).into_iter().flatten().flatten();
        files.into_iter().any(|file| file.file_name().to_string_lossy().contains(".refused-"))
    }

    pub(crate) fn script(&self) -> PathBuf {
        self.root.join("task.sh")
    }
}

/// The last non-empty line of a log.
pub(crate) fn last_line(log: &Path) -> Option<String> {
    let text = fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_a_results_file_have_folders_of_their_own_that_leave_nothing() {
        let here = tempfile::tempdir().unwrap();
        let results = here.path().join("mine.db");
        let (one, other) = (Folder::of(&results, "1a"), Folder::of(&results, "2b"));
        one.create().unwrap();
        other.create().unwrap();
        assert_ne!(one.round("0"), other.round("0"));
        one.remove().unwrap();
        assert!(other.logs().is_dir());
        other.remove().unwrap();
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_last_words_of_a_log_are_its_last_line_with_text() {
        let here = tempfile::tempdir().unwrap();
        let log = here.path().join("log");
        assert_eq!(last_line(&log), None);
        fs::write(&log, "starting\nerror: no space\n\n").unwrap();
        assert_eq!(last_line(&log).as_deref(), Some("error: no space"));
    }
}
