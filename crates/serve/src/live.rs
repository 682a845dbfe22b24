//! Progress of the current run. The run writes it to a small JSON file beside the results file, because the results
//! file contains only trials that have ended.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Number of a trial's seconds that are kept. Older seconds are dropped.
const SECONDS_MAX: usize = 600;
/// Largest number of bytes of the file that are read. The kept seconds need only a small part of this number.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// Current action in words: `starting maria`.
    pub says: String,
    /// The current trial; `None` between trials.
    pub doing: Option<LiveTrial>,
    /// The next trials that are already known.
    pub next: Vec<LiveTrial>,
    /// Number of trials that have ended.
    pub ended: usize,
    /// Number of ended trials that failed.
    pub failed: usize,
    /// Expected number of trials of the whole run.
    pub of: usize,
    /// Estimated time until the end of the run, in seconds.
    pub seconds_left: Option<f64>,
    /// Seconds of the current trial.
    pub seconds: Seconds,
}

/// Figures of a trial per second, in time order. Every list has a value for each second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    pub operations_per_second: Vec<f64>,
    /// Median latency of the events that ended in the second, in µs; `None` if none ended.
    pub p50_us: Vec<Option<u64>>,
    /// 95th percentile of the latency, in µs.
    pub p95_us: Vec<Option<u64>>,
    /// 99th percentile of the latency, in µs.
    pub p99_us: Vec<Option<u64>>,
}

/// A trial: its step, system, clients and round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveTrial {
    pub step: String,
    pub system: String,
    pub clients: u32,
    /// The round's number, from 0.
    pub round: u32,
    /// The kind of operation that the trial's rate counts.
    pub operation: String,
}

impl Live {
    /// Starts a trial. `next` are the trials after it.
    pub fn begin(&mut self, doing: LiveTrial, next: Vec<LiveTrial>) {
        self.says = String::new();
        self.doing = Some(doing);
        self.next = next;
        self.seconds = Seconds::default();
    }
}

impl Seconds {
    /// Adds a second. `latency_us` has the p50, p95 and p99 of the second. Drops the oldest second if there are more
    /// than `SECONDS_MAX`.
    pub fn push(&mut self, operations_per_second: f64, latency_us: [Option<u64>; 3]) {
        push(&mut self.operations_per_second, operations_per_second);
        let lists = [&mut self.p50_us, &mut self.p95_us, &mut self.p99_us];
        lists.into_iter().zip(latency_us).for_each(|(list, us)| push(list, us));
    }
}

fn push<T>(list: &mut Vec<T>, value: T) {
    if list.len() == SECONDS_MAX {
        list.remove(0);
    }
    list.push(value);
}

/// The file with a run's progress. This value is dropped when the run ends, which removes the file. If the process is
/// killed, the file stays. Readers then ignore it, because the results file shows that the run's process is gone.
#[derive(Debug)]
pub struct LiveFile {
    path: PathBuf,
}

impl LiveFile {
    /// The path of the file beside a results file.
    pub fn beside(results: &Path) -> Self {
        Self { path: path(results) }
    }

    /// Replaces the file atomically. A failed write is ignored, because it must not stop a measurement.
    pub fn write(&self, live: &Live) {
        let _ = replace(&self.path, &serde_json::to_vec(live).unwrap_or_default());
    }
}

/// Writes a file so that readers see either the whole new file or nothing of it. The data is first written to a file
/// with a random name, so that nobody can put a link there beforehand.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.persist(path)?;
    Ok(())
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads the progress of the current run. `None` if there is no valid file.
pub(crate) fn read(results: &Path) -> Option<Live> {
    let path = path(results);
    // A pipe is not opened, because opening it would wait for a writer.
    if !fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(&path).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
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
        live.seconds.push(100.4, [Some(120), None, Some(950)]);
        file.write(&live);
        assert_eq!(read(&results), Some(live));
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_the_latest_seconds_are_kept_and_only_of_this_trial() {
        let mut live = Live::default();
        (0..700_u32).for_each(|second| live.seconds.push(second.into(), [Some(second.into()), None, None]));
        let seconds = &live.seconds;
        assert_eq!((seconds.operations_per_second.len(), seconds.operations_per_second[0]), (600, 100.0));
        assert_eq!((seconds.p50_us.len(), seconds.p50_us[599], seconds.p99_us.len()), (600, Some(699), 600));
        let trial = |system: &str| LiveTrial {
            step: "s".into(),
            system: system.into(),
            clients: 1,
            round: 0,
            operation: "query".into(),
        };
        live.begin(trial("a"), vec![trial("b")]);
        assert_eq!(live.seconds, Seconds::default());
        assert_eq!(live.next[0].system, "b");
    }
}
