//! Figures of runs, in the formats of tools that follow figures over time.

mod bmf;
mod names;
mod otava;
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_store::{Run, RunChoice, RunId, RunState, RunSummary, Store};

pub use self::names::plain_name;
use crate::error::ExportError;
use crate::export::{Exported, wanted_runs};
use crate::files::{Files, unwritable};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureFormat {
    /// Bencher Metric Format: a JSON file per run.
    Bmf,
    /// Apache Otava's format: a CSV file for each system in a test, with a row for each run, and a configuration
    /// that names the files.
    Otava,
}

#[derive(Clone, Debug)]
pub struct FigureOptions<'a> {
    pub format: FigureFormat,
    /// Runs to export. `None` exports every run that has ended, except the runs that a search made for its comparisons.
    pub runs: Option<Vec<RunId>>,
    /// Whether existing files with the same names may be overwritten.
    pub overwrite: bool,
    /// When this is set, the export ends and leaves no file.
    pub stop: &'a AtomicBool,
}

/// What was exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiguresExported {
    pub files: Vec<Exported>,
    pub left_out: Vec<LeftOutRun>,
}

/// A run without a figure in any of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutRun {
    pub run: RunId,
    pub why: WhyLeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyLeftOut {
    #[error("is running; export again when it has ended")]
    StillRunning,
    #[error("has no figure")]
    NoFigure,
    /// The run was measured under other conditions than the newest run of its plan.
    #[error(
        "differs from the newest run of its plan in host, scale, plan text or anchor, so it is not part of that series"
    )]
    OtherConditions,
}

/// The name and the content of a file that has not been written yet.
struct FigureFile {
    name: String,
    text: String,
    rows: u64,
}

/// The files to write, and the runs that are in no file.
type Made = (Vec<FigureFile>, Vec<LeftOutRun>);

/// Writes figures of runs to files in `folder`. Creates the folder if it does not exist. The files appear only when
/// all of them are complete.
///
/// # Errors
/// The results file cannot be read, or has no such run or no figure. Or a file exists, or the folder cannot be
/// written.
pub fn export_figures(
    store: &Store,
    folder: &Path,
    options: &FigureOptions<'_>,
) -> Result<FiguresExported, ExportError> {
    let (runs, mut left_out) = load(store, options)?;
    let (files, more) = match options.format {
        FigureFormat::Bmf => bmf::files(&runs),
        FigureFormat::Otava => otava::files(runs),
    };
    left_out.extend(more);
    if files.is_empty() {
        return Err(ExportError::NoFigure { path: store.path().to_owned() });
    }
    let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
    let mut written = Files::new(folder, &names, options.overwrite)?;
    for FigureFile { name, text, .. } in &files {
        let mut file = written.create(name)?;
        file.write_all(text.as_bytes()).map_err(|error| unwritable(&folder.join(name), &error))?;
    }
    let kept = written.keep()?.into_iter().zip(&files);
    let files = kept.map(|((path, bytes), file)| Exported { path, rows: file.rows, bytes }).collect();
    Ok(FiguresExported { files, left_out })
}

/// Loads the chosen runs that have ended. Also returns the chosen runs that are still in progress and therefore left
/// out.
fn load(store: &Store, options: &FigureOptions<'_>) -> Result<(Vec<Run>, Vec<LeftOutRun>), ExportError> {
    wanted_runs(store, options.runs.as_deref())?;
    let is_wanted = |run: &RunSummary| match &options.runs {
        Some(wanted) => wanted.contains(&run.id),
        None => !run.is_of_search,
    };
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for summary in store.runs()?.into_iter().filter(is_wanted) {
        if options.stop.load(Ordering::Relaxed) {
            return Err(ExportError::Stopped);
        }
        if summary.state == RunState::Running {
            left_out.push(LeftOutRun { run: summary.id, why: WhyLeftOut::StillRunning });
        } else {
            runs.push(store.load_run(RunChoice::Id(summary.id))?);
        }
    }
    Ok((runs, left_out))
}
