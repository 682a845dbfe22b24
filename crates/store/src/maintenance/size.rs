//! Sizes of a results file and of its runs.

use crate::error::StoreError;
use crate::file::open::Store;
use crate::file::tables::{OF_RUN, OF_TRIAL, rows_of_run};
use crate::record::RunId;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSize {
    /// Size of the file without its log.
    pub bytes: u64,
    /// Unused space in the file, for example of deleted runs. Later runs reuse this space, and a vacuum frees it.
    pub free_bytes: u64,
}

impl Store {
    /// The size of the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn size(&self) -> Result<FileSize, StoreError> {
        let number = |name: &str| {
            self.connection()
                .pragma_query_value(None, name, |row| row.get::<_, u64>(0))
                .map_err(|error| self.error(error))
        };
        let page_bytes = number("page_size")?;
        Ok(FileSize {
            bytes: number("page_count")? * page_bytes,
            free_bytes: number("freelist_count")? * page_bytes,
        })
    }

    /// Estimated size of a run in bytes. It counts the run's values without the overhead of the database.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn run_bytes(&self, run: RunId) -> Result<u64, StoreError> {
        let tables = [&["run", "trial"], OF_RUN, OF_TRIAL].concat();
        tables.into_iter().map(|table| self.table_bytes(table, run)).sum()
    }

    fn table_bytes(&self, table: &str, run: RunId) -> Result<u64, StoreError> {
        let columns = self.columns(table)?;
        // As text, a number takes about as many bytes as it does in the file.
        let row: Vec<_> = columns.iter().map(|column| format!("ifnull(octet_length({column}), 0)")).collect();
        let sql = format!("SELECT ifnull(sum({}), 0) {}", row.join(" + "), rows_of_run(table));
        Ok(self.rows(&sql, [run.0], |row| row.get(0))?[0])
    }

    /// The columns of a table, in order.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT name FROM pragma_table_info(?1)", [table], |row| row.get(0))
    }
}
