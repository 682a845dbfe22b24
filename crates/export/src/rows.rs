//! Writes the rows of a query to a file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_store::Store;

use crate::error::{ExportError, WriteError};
use crate::files::unwritable;
use crate::layout::Layout;
use crate::row::{Column, Sink};
use crate::tables;

/// Number of rows between two checks of the stop flag.
const ROWS_BETWEEN_LOOKS: u64 = 1024;

/// A query whose rows are written to one file.
pub(crate) struct Rows<'a> {
    pub(crate) store: &'a Store,
    pub(crate) sql: &'a str,
    /// The path that error messages name.
    pub(crate) path: &'a Path,
    /// When this is set, writing ends with an error.
    pub(crate) stop: &'a AtomicBool,
}

impl Rows<'_> {
    /// Writes every row and returns their number.
    ///
    /// `layout` returns the file's columns for the columns of the query. `open` opens a file with these columns.
    pub(crate) fn write<'l>(
        &self,
        layout: impl FnOnce(Vec<Column>) -> Layout<'l>,
        open: impl FnOnce(&[Column]) -> Result<Box<dyn Sink>, WriteError>,
    ) -> Result<u64, ExportError> {
        let read = |error| ExportError::from(self.store.error(error));
        let written = |error: WriteError| unwritable(self.path, &error);
        let mut statement = self.store.connection().prepare(self.sql).map_err(read)?;
        let layout = layout(tables::columns(&statement));
        let mut sink = open(layout.columns()).map_err(written)?;
        let mut rows = statement.query([]).map_err(read)?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(read)? {
            if count % ROWS_BETWEEN_LOOKS == 0 && self.stop.load(Ordering::Relaxed) {
                return Err(ExportError::Stopped);
            }
            self.store.take(row)?;
            sink.row(&layout.read(row).map_err(read)?).map_err(written)?;
            count += 1;
        }
        sink.finish().map_err(written)?;
        Ok(count)
    }
}
