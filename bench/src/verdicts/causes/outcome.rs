//! The outcome for a planted cause, stored in a file beside the cause's plan.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

const FILE: &str = "outcome.json";

/// What `dyno explain` found out about a cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Throughput of `new` divided by the throughput of `old`; `None` if nothing was measured.
    pub(super) ratio: Option<f64>,
    /// The rank, from 1, of the planted cause among the explanation's settings; `None` if the explanation does not
    /// rank it.
    pub(super) place: Option<usize>,
    /// How the proof ended, as its JSON says; `None` if there was no difference to prove.
    pub(super) ending: Option<String>,
    pub(super) is_proven: bool,
    /// Names that were blamed wrongly.
    pub(super) wrong: Vec<String>,
    /// Number of comparisons that the proof made.
    pub(super) probes: usize,
    /// Total time of the proof's comparisons, in seconds.
    pub(super) seconds: f64,
    /// Why the cause could not be measured; `None` if it was.
    pub(super) failure: Option<String>,
}

impl Outcome {
    /// Reads the outcome in a folder; `None` if the folder has no outcome.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let read = || -> anyhow::Result<Self> { Ok(serde_json::from_str(&fs::read_to_string(&path)?)?) };
        read().map(Some).with_context(|| format!("{}: not readable; remove its folder", path.display()))
    }

    /// Writes the outcome atomically.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let partial = folder.join(format!("{FILE}.partial"));
        let write = || -> anyhow::Result<()> {
            fs::write(&partial, serde_json::to_vec_pretty(self)?)?;
            Ok(fs::rename(&partial, folder.join(FILE))?)
        };
        write().with_context(|| format!("cannot write {}", partial.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Outcome::read(folder.path()).unwrap(), None);
        let outcome = Outcome {
            ratio: Some(0.57),
            place: Some(1),
            ending: Some("proven".to_owned()),
            is_proven: true,
            wrong: vec!["wait_timeout".to_owned()],
            probes: 4,
            seconds: 61.5,
            failure: None,
        };
        outcome.write(folder.path()).unwrap();
        assert_eq!(Outcome::read(folder.path()).unwrap(), Some(outcome));
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(Outcome::read(folder.path()).unwrap_err().to_string().contains("outcome.json: not readable"));
    }
}
