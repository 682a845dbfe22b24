//! Deletes runs, and releases space.

use crate::error::StoreError;
use crate::maintenance::FileSize;
use crate::open::Store;
use crate::run::RunId;

impl Store {
    /// Deletes a run with everything that belongs to it. Later runs use the space; [`Self::vacuum`] releases
    /// it.
    ///
    /// # Errors
    /// The file has no such run, one of its runs is running, or it cannot be written.
    pub fn delete_run(&mut self, run: RunId) -> Result<(), StoreError> {
        let transaction = self.quiet_transaction()?;
        // What refers to the run goes with it: every table's reference says ON DELETE CASCADE.
        let deleted = transaction
            .execute("DELETE FROM run WHERE id = ?1", [run.0])
            .map_err(|error| self.error(error))?;
        if deleted == 0 {
            return Err(self.no_such_run(run)?);
        }
        transaction.commit().map_err(|error| self.error(error))
    }

    /// Writes the file anew without the space that deleted runs have left, and says how large it was and is.
    /// Takes up to twice the file's size on disk meanwhile.
    ///
    /// # Errors
    /// One of the runs is running, another program has the file open and busy, or the disk is full.
    pub fn vacuum(&mut self) -> Result<(FileSize, FileSize), StoreError> {
        self.refuse_while_running()?;
        let before = self.size()?;
        // The new pages go through the log; only a checkpoint brings them into the file and cuts both off.
        self.connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            .map_err(|error| self.error(error))?;
        Ok((before, self.size()?))
    }
}
