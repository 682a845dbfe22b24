//! Deletes runs and frees their space.

use crate::error::StoreError;
use crate::file::open::Store;
use crate::maintenance::FileSize;
use crate::record::RunId;

impl Store {
    /// Deletes a run and all its rows. The space stays in the file for later runs until [`Self::vacuum`] frees it.
    ///
    /// # Errors
    /// The file has no such run, one of its runs is in progress, or the file cannot be written.
    pub fn delete_run(&mut self, run: RunId) -> Result<(), StoreError> {
        let transaction = self.quiet_transaction()?;
        // Rows that refer to the run are deleted with it, because every table's reference is declared ON DELETE
        // CASCADE.
        let deleted = transaction
            .execute("DELETE FROM run WHERE id = ?1", [run.0])
            .map_err(|error| self.error(error))?;
        if deleted == 0 {
            return Err(self.no_such_run(run)?);
        }
        transaction.commit().map_err(|error| self.error(error))
    }

    /// Rewrites the file without the space of deleted runs. Returns the file's size before and after the rewrite.
    /// During the rewrite, up to twice the file's size is needed on disk.
    ///
    /// # Errors
    /// One of the runs is in progress, another program uses the file, or the disk is full.
    pub fn vacuum(&mut self) -> Result<(FileSize, FileSize), StoreError> {
        self.refuse_while_running()?;
        let before = self.size()?;
        // VACUUM writes the new pages to the log. Only a checkpoint moves them into the file and truncates the file
        // and the log.
        self.connection()
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            .map_err(|error| self.error(error))?;
        Ok((before, self.size()?))
    }
}
