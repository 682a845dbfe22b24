//! What came of a planted cause, kept in a file beside its plan.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

const FILE: &str = "outcome.json";

/// What the explanation and the proof of a cause were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Throughput of `new` as a multiple of that of `old`; none if nothing was measured.
    pub(super) ratio: Option<f64>,
    /// The place, from 1, of what was planted among the settings of the explanation; none if it is not among them.
    pub(super) place: Option<usize>,
    /// How the proof ended, as its JSON says; none if there was no difference to prove.
    pub(super) ending: Option<String>,
    pub(super) is_proven: bool,
    /// What was named as a cause and is none.
    pub(super) wrong: Vec<String>,
    /// Number of comparisons.
    pub(super) probes: usize,
    /// Time that they took.
    pub(super) seconds: f64,
    /// Why it could not be measured.
    pub(super) failure: Option<String>,
}

impl Outcome {
    /// The outcome in a folder; none if it has none.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let read = || -> anyhow::Result<Self> { Ok(serde_json::from_str(&fs::read_to_string(&path)?)?) };
        read().map(Some).with_context(|| format!("{}: not readable; remove its folder", path.display()))
    }

    /// Keeps it. There is never half a file.
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
