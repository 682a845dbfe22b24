//! What a run is doing at this second: a small JSON file beside the results file, which holds only what is done.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Rates that are kept: the latest seconds of a trial.
const RATES_MAX: usize = 600;

/// What a run is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// In words: `starting maria`.
    pub says: String,
    /// The trial that is under load.
    pub doing: Option<Doing>,
    /// Trials that have ended.
    pub ended: usize,
    /// Those of them that failed.
    pub failed: usize,
    /// Trials of the run, as far as is known.
    pub of: usize,
    /// Estimated time until the run's end.
    pub seconds_left: Option<f64>,
    /// Operations per second of the trial, second by second, the latest last.
    pub rates: Vec<f64>,
}

/// A trial that is under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doing {
    /// The step's id.
    pub step: String,
    /// The system's id.
    pub system: String,
    /// Client connections.
    pub clients: u32,
    /// Which pass, from 0.
    pub trial: u32,
    /// What its rate counts.
    pub operation: String,
}

impl Live {
    /// A trial begins.
    pub fn begin(&mut self, doing: Doing) {
        self.says = String::new();
        self.doing = Some(doing);
        self.rates.clear();
    }

    /// A second of the trial went by.
    pub fn tick(&mut self, operations_per_second: f64) {
        if self.rates.len() == RATES_MAX {
            self.rates.remove(0);
        }
        self.rates.push(operations_per_second);
    }
}

/// The file. Dropping it removes it, as the run has ended; what a killed run leaves is not believed, since the
/// results file knows that its process is gone.
#[derive(Debug)]
pub struct LiveFile {
    path: PathBuf,
}

impl LiveFile {
    /// The file beside a results file.
    pub fn beside(results: &Path) -> Self {
        Self { path: path(results) }
    }

    /// Writes it anew, all or nothing. That it cannot be written is no reason to stop measuring.
    pub fn write(&self, live: &Live) {
        let new = self.path.with_extension("new");
        let text = serde_json::to_vec(live).unwrap_or_default();
        if fs::write(&new, text).is_ok() {
            let _ = fs::rename(&new, &self.path);
        }
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// What a run says that it is doing; none if none says anything.
pub(crate) fn read(results: &Path) -> Option<Live> {
    serde_json::from_slice(&fs::read(path(results)).ok()?).ok()
}

fn path(results: &Path) -> PathBuf {
    let mut name = results.as_os_str().to_owned();
    name.push("-live.json");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_goes_with_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("dyno.db");
        assert_eq!(read(&results), None);
        let file = LiveFile::beside(&results);
        let mut live = Live { of: 12, ..Live::default() };
        live.tick(100.5);
        file.write(&live);
        assert_eq!(read(&results), Some(live));
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_the_latest_seconds_are_kept_and_only_of_this_trial() {
        let mut live = Live::default();
        (0..700).for_each(|second| live.tick(f64::from(second)));
        assert_eq!((live.rates.len(), live.rates[0]), (600, 100.0));
        live.begin(Doing {
            step: "s".into(),
            system: "a".into(),
            clients: 1,
            trial: 0,
            operation: "query".into(),
        });
        assert!(live.rates.is_empty());
    }
}
