//! Writes the rows of each table of the results file to a separate file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_store::{RunId, Store};

use crate::csv::Csv;
use crate::error::{ExportError, WriteError};
use crate::files::{Files, unwritable};
use crate::jsonl::Jsonl;
use crate::parquet::Parquet;
use crate::row::{Column, Sink, Value};
use crate::tables::{self, TABLES, Table};

/// Rows between two checks of the stop flag.
const ROWS_BETWEEN_LOOKS: u64 = 1024;

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
    /// Extension of its files' names, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }

    fn sink(self, file: File, columns: &[Column]) -> Result<Box<dyn Sink>, WriteError> {
        Ok(match self {
            Self::Parquet => Box::new(Parquet::new(file, columns)?),
            Self::Csv => Box::new(Csv::new(file, columns)?),
            Self::Jsonl => Box::new(Jsonl::new(file, columns)),
        })
    }
}

#[derive(Clone, Debug)]
pub struct Options<'a> {
    pub format: Format,
    /// Runs to export; none for every run.
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
    /// Rows in it, without the header.
    pub rows: u64,
    pub bytes: u64,
}

/// Writes every table of a results file to a separate file in `folder`, from one snapshot. Creates the folder if it
/// does not exist. The files appear when all are complete.
///
/// # Errors
/// The results file cannot be read or has no such run, a file exists, or the folder cannot be written.
pub fn export(store: &Store, folder: &Path, options: &Options<'_>) -> Result<Vec<Exported>, ExportError> {
    let _snapshot = store.snapshot()?;
    check_runs(store, options.runs.as_deref())?;
    let name = |table: &Table| format!("{}.{}", table.name, options.format.extension());
    let names: Vec<_> = TABLES.iter().map(name).collect();
    let mut files = Files::new(folder, &names, options.overwrite)?;
    let mut rows = Vec::new();
    for (table, name) in TABLES.iter().zip(&names) {
        let file = files.create(name)?;
        rows.push(write_table(store, table, file, &folder.join(name), options)?);
    }
    let kept = files.keep()?;
    Ok(kept.into_iter().zip(rows).map(|((path, bytes), rows)| Exported { path, rows, bytes }).collect())
}

fn check_runs(store: &Store, runs: Option<&[RunId]>) -> Result<(), ExportError> {
    let known = store.runs()?;
    let missing = runs.into_iter().flatten().find(|run| known.iter().all(|known| known.id != **run));
    match missing {
        Some(run) => Err(store.no_such_run(*run)?.into()),
        None => Ok(()),
    }
}

/// Writes a table's rows and returns their number.
fn write_table(
    store: &Store,
    table: &Table,
    file: File,
    path: &Path,
    options: &Options<'_>,
) -> Result<u64, ExportError> {
    let read = |error| ExportError::from(store.error(error));
    let written = |error: WriteError| unwritable(path, &error);
    let mut statement = store.connection().prepare(&table.sql(options.runs.as_deref())).map_err(read)?;
    let columns = tables::columns(&statement);
    let mut sink = options.format.sink(file, &columns).map_err(written)?;
    let mut rows = statement.query([]).map_err(read)?;
    let mut count = 0;
    while let Some(row) = rows.next().map_err(read)? {
        let value = |(index, column): (usize, &Column)| Value::new(column.kind, row.get_ref(index)?);
        let values: rusqlite::Result<Vec<_>> = columns.iter().enumerate().map(value).collect();
        sink.row(&values.map_err(read)?).map_err(written)?;
        count += 1;
        if count % ROWS_BETWEEN_LOOKS == 0 && options.stop.load(Ordering::Relaxed) {
            return Err(ExportError::Stopped);
        }
    }
    sink.finish().map_err(written)?;
    Ok(count)
}
