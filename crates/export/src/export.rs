//! Writes the results file's tables, each to a separate file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dyno_store::{RunId, RunState, Store};

use crate::csv::Csv;
use crate::error::{ExportError, WriteError};
use crate::files::Files;
use crate::jsonl::Jsonl;
use crate::layout::Layout;
use crate::parquet::{About, Parquet};
use crate::row::{Column, Sink};
use crate::rows::Rows;
use crate::tables::{TABLES, Table};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with Snappy.
    Parquet,
    /// Comma-separated values, RFC 4180, with a header.
    Csv,
    /// One JSON object per line.
    Jsonl,
}

impl Format {
    /// The extension of file names in this format, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }

    fn sink(self, file: File, columns: &[Column]) -> Result<Box<dyn Sink>, WriteError> {
        Ok(match self {
            Self::Parquet => Box::new(Parquet::new(file, columns, &About::default())?),
            Self::Csv => Box::new(Csv::new(file, columns)?),
            Self::Jsonl => Box::new(Jsonl::new(file, columns)),
        })
    }
}

#[derive(Clone, Debug)]
pub struct Options<'a> {
    pub format: Format,
    /// Runs to export; `None` for every run.
    pub runs: Option<Vec<RunId>>,
    /// Whether existing files with the same names may be overwritten.
    pub overwrite: bool,
    /// When this is set, the export ends and leaves no file.
    pub stop: &'a AtomicBool,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    pub path: PathBuf,
    /// Number of rows, without the header.
    pub rows: u64,
    pub bytes: u64,
}

/// Writes each table of a results file to a file in `folder`, from one snapshot. Creates the folder if it does not
/// exist. The files appear only when all of them are complete.
///
/// # Errors
/// The results file cannot be read or has no such run, a file exists, or the folder cannot be written.
pub fn export(store: &Store, folder: &Path, options: &Options<'_>) -> Result<Vec<Exported>, ExportError> {
    let _snapshot = store.snapshot()?;
    wanted_runs(store, options.runs.as_deref())?;
    let name = |table: &Table| format!("{}.{}", table.name, options.format.extension());
    let names: Vec<_> = TABLES.iter().map(name).collect();
    let mut files = Files::new(folder, &names, options.overwrite)?;
    let mut rows = Vec::new();
    for (table, name) in TABLES.iter().zip(&names) {
        let file = files.create(name)?;
        let (sql, path) = (table.sql(options.runs.as_deref()), folder.join(name));
        let table = Rows { store, sql: &sql, path: &path, stop: options.stop };
        rows.push(table.write(Layout::of_query, |columns| options.format.sink(file, columns))?);
    }
    let kept = files.keep()?;
    Ok(kept.into_iter().zip(rows).map(|((path, bytes), rows)| Exported { path, rows, bytes }).collect())
}

/// Returns the requested runs, or all runs if `None`, with their states. Fails if the results file lacks a requested
/// run.
pub(crate) fn wanted_runs(
    store: &Store,
    wanted: Option<&[RunId]>,
) -> Result<Vec<(RunId, RunState)>, ExportError> {
    let mut runs = store.run_states()?;
    let Some(wanted) = wanted else { return Ok(runs) };
    if let Some(missing) = wanted.iter().find(|run| runs.iter().all(|(known, _)| known != *run)) {
        return Err(store.no_such_run(*missing)?.into());
    }
    runs.retain(|(run, _)| wanted.contains(run));
    Ok(runs)
}
