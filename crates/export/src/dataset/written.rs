//! Writes the files of a run before they become part of the data set.

use std::fs::File;
use std::sync::atomic::AtomicBool;

use dyno_store::{Completeness, Store};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use tempfile::TempPath;

use super::facts::RunFacts;
use super::folder::Folder;
use super::tables;
use crate::error::{ExportError, WriteError};
use crate::parquet::{About, Parquet};
use crate::row::Sink;
use crate::rows::Rows;
use crate::tables::Table;

/// Parquet files store the completeness of their run in their metadata, under this key.
const COMPLETENESS: &str = "dyno.completeness";

/// The rows that a run has in a table, after they were written to a file.
pub(super) struct Written {
    pub(super) table: &'static str,
    pub(super) rows: u64,
    /// The complete file under a temporary name. `None` for a table without rows.
    pub(super) file: Option<TempPath>,
}

/// Writes every table of a run.
pub(super) fn write_tables(
    store: &Store,
    folder: &Folder,
    facts: &RunFacts,
    stop: &AtomicBool,
) -> Result<Vec<Written>, ExportError> {
    tables::tables().map(|table| write_table(store, folder, table, facts, stop)).collect()
}

fn write_table(
    store: &Store,
    folder: &Folder,
    table: &'static Table,
    facts: &RunFacts,
    stop: &AtomicBool,
) -> Result<Written, ExportError> {
    let read = |error| ExportError::from(store.error(error));
    let has_rows: bool =
        store.connection().query_row(&table.exists_sql(facts.id), [], |row| row.get(0)).map_err(read)?;
    if !has_rows {
        return Ok(Written { table: table.name, rows: 0, file: None });
    }
    let file = folder.temporary()?;
    let note = words(facts.completeness);
    let about = About { sorted_by: &table.sorted_by(), note: Some((COMPLETENESS, &note)) };
    let (sql, path) = (table.sql(Some(&[facts.id])), folder.path(&facts.file_name(table.name)));
    let rows = Rows { store, sql: &sql, path: &path, stop }.write(
        |columns| tables::layout(table, facts, columns),
        |columns| -> Result<Box<dyn Sink>, WriteError> {
            Ok(Box::new(Parquet::new(file.as_file().try_clone()?, columns, &about)?))
        },
    )?;
    // The file is closed here, because a batch has more files than a process may open.
    Ok(Written { table: table.name, rows, file: Some(file.into_temp_path()) })
}

/// Reads from a file's metadata how complete the run was when the file was written. `None` if the metadata has no valid
/// completeness.
pub(super) fn completeness_of(file: &File) -> Option<Completeness> {
    let reader = SerializedFileReader::new(file.try_clone().ok()?).ok()?;
    let notes = reader.metadata().file_metadata().key_value_metadata()?;
    let note = notes.iter().find(|note| note.key == COMPLETENESS)?;
    let words: Vec<u64> = note.value.as_deref()?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [completed_trials, trials, has_ended] = words[..] else { return None };
    Some(Completeness { completed_trials, trials, has_ended: has_ended == 1 })
}

/// The completeness as text: the number of completed trials, the number of all trials, and 1 if the run's end is
/// recorded, otherwise 0.
fn words(completeness: Completeness) -> String {
    let Completeness { completed_trials, trials, has_ended } = completeness;
    format!("{completed_trials} {trials} {}", u8::from(has_ended))
}
