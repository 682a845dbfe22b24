//! Writes the rows of a query to a file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_store::Store;

use crate::error::{ExportError, WriteError};
use crate::files::unwritable;
use crate::layout::Layout;
use crate::row::{Column, Sink};
use crate::tables;

/// Rows between two checks of the stop flag.
const ROWS_BETWEEN_LOOKS: u64 = 1024;

/// The rows of a query, to be written to one file.
pub(crate) struct Rows<'a> {
    pub(crate) store: &'a Store,
    pub(crate) sql: &'a str,
    /// Name of the file, for errors.
    pub(crate) path: &'a Path,
    /// When this is set, writing ends.
    pub(crate) stop: &'a AtomicBool,
}

impl Rows<'_> {
    /// Writes every row and returns their number.
    ///
    /// `layout` makes the layout of the file from the columns of the query. `open` opens the file with the columns of
    /// the layout.
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
