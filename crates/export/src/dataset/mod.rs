//! A data set to which runs are added. It has one Parquet file for each table of each run. The folders of its
//! partitions have the names that Hive gives partitions.

mod facts;
mod folder;
mod partition;
mod read;
mod records;
mod tables;
mod written;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use dyno_store::{RunId, RunState, Store};

use self::facts::RunFacts;
use self::folder::Folder;
pub use self::read::read_history;
use self::written::{Written, completeness_of, write_tables};
use crate::error::ExportError;
use crate::export::wanted_runs;

#[derive(Clone, Debug)]
pub struct DatasetOptions<'a> {
    /// Runs to add. `None` means that all runs are added.
    pub runs: Option<Vec<RunId>>,
    /// Whether runs that the data set already has are written again.
    pub rewrite: bool,
    /// When this is set, the export ends. The runs that were added until then stay in the data set.
    pub stop: &'a AtomicBool,
}

/// What happened to a run of the results file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrownRun {
    /// The run's number in the results file.
    pub run: RunId,
    /// The run's key, which distinguishes it from every other run in the data set. Its files are named after the
    /// key.
    pub key: String,
    pub grown: Grown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grown {
    /// The data set did not have the run.
    Added(Volume),
    /// The data set had a copy of the run that is less complete than the results file's, or the caller asked to write
    /// the run again.
    Replaced(Volume),
    /// The data set has a copy of the run that is at least as complete as the results file's, so nothing was written.
    Kept,
    /// The run is in progress, so it was left out.
    StillRunning,
}

/// Size of the files of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    pub rows: u64,
    pub bytes: u64,
}

/// Adds runs of a results file to the data set in a folder, from one snapshot of the file. Creates the folder if it
/// is missing. Calls `done` after each run.
///
/// A run is found in the data set by its identity. If the data set already has the run, its copy is replaced only if
/// the results file has a more complete copy, or if `options.rewrite` is set.
///
/// # Errors
/// The results file cannot be read or has no such run, or the data set cannot be written. Runs that were added before
/// the error stay in the data set.
pub fn grow_dataset(
    store: &Store,
    folder: &Path,
    options: &DatasetOptions<'_>,
    done: &mut dyn FnMut(&GrownRun),
) -> Result<(), ExportError> {
    let _snapshot = store.snapshot()?;
    let runs = wanted_runs(store, options.runs.as_deref())?;
    let folder = Folder::create(folder)?;
    let mut batch = Vec::new();
    for (run, state) in runs {
        match prepare(store, &folder, run, state, options) {
            Ok(prepared) => batch.push(prepared),
            Err(error) => {
                // The error ends the export. But the files of the earlier runs in the batch are complete, so the
                // earlier runs are added first.
                put(&folder, &mut batch, done)?;
                return Err(error);
            }
        }
        if batch.len() == RUNS_A_BATCH {
            put(&folder, &mut batch, done)?;
        }
    }
    put(&folder, &mut batch, done)
}

/// The files of this many runs are made durable by one call. The call takes no longer for many files than for one.
const RUNS_A_BATCH: usize = 64;

/// A run of the results file, and what to do with it.
struct Prepared {
    run: RunId,
    facts: RunFacts,
    task: Task,
}

enum Task {
    Nothing(Grown),
    Put {
        files: Vec<Written>,
        /// Whether the data set has a copy of the run.
        is_there: bool,
    },
}

/// Writes the files of a run under temporary names, if the data set needs the run.
fn prepare(
    store: &Store,
    folder: &Folder,
    run: RunId,
    state: RunState,
    options: &DatasetOptions<'_>,
) -> Result<Prepared, ExportError> {
    let facts = RunFacts::read(store, run)?;
    if state == RunState::Running {
        return Ok(Prepared { run, facts, task: Task::Nothing(Grown::StillRunning) });
    }
    let mark = folder.open(&facts.file_name(tables::MARK))?;
    let before = mark.and_then(|file| completeness_of(&file));
    let task = if !options.rewrite && before >= Some(facts.completeness) {
        Task::Nothing(Grown::Kept)
    } else {
        Task::Put { files: write_tables(store, folder, &facts, options.stop)?, is_there: before.is_some() }
    };
    Ok(Prepared { run, facts, task })
}

/// Makes the prepared runs part of the data set, and calls `done` after each run.
fn put(
    folder: &Folder,
    batch: &mut Vec<Prepared>,
    done: &mut dyn FnMut(&GrownRun),
) -> Result<(), ExportError> {
    if batch.iter().any(|prepared| matches!(prepared.task, Task::Put { .. })) {
        folder.settle()?;
    }
    for Prepared { run, facts, task } in batch.drain(..) {
        let grown = match task {
            Task::Nothing(grown) => grown,
            Task::Put { files, is_there: true } => Grown::Replaced(replace(folder, &facts, files)?),
            Task::Put { files, is_there: false } => Grown::Added(replace(folder, &facts, files)?),
        };
        done(&GrownRun { run, key: facts.key, grown });
    }
    Ok(())
}

/// Writes the files of a run in place of its earlier files, if there are any. The file that marks the run as complete
/// is removed first and written last, so that a partly replaced run counts as missing.
fn replace(folder: &Folder, facts: &RunFacts, files: Vec<Written>) -> Result<Volume, ExportError> {
    folder.remove(&facts.file_name(tables::MARK))?;
    let mut volume = Volume::default();
    let (marks, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|one| one.table == tables::MARK);
    for Written { table, rows, file } in others.into_iter().chain(marks) {
        let name = facts.file_name(table);
        volume.rows += rows;
        match file {
            Some(file) => volume.bytes += folder.put(&name, file)?,
            None => folder.remove(&name)?,
        }
    }
    Ok(volume)
}
