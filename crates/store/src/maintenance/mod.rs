//! Maintenance of results files: sizes, checks, deletions, merges.

mod bulk;
mod check;
mod delete;
mod join;
mod merge;
mod size;

pub use check::Fault;
pub use merge::{Merged, MergedRun};
pub use size::FileSize;

use rusqlite::{Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::RunId;
use crate::run::RunState;

impl Store {
    /// Begins a transaction that writes. It fails while a run is in progress, because the commits of the run's
    /// trials would have to wait, which would distort the run.
    fn quiet_transaction(&self) -> Result<Transaction<'_>, StoreError> {
        let transaction = Transaction::new_unchecked(self.connection(), TransactionBehavior::Immediate)
            .map_err(|error| self.error(error))?;
        self.refuse_while_running()?;
        Ok(transaction)
    }

    fn refuse_while_running(&self) -> Result<(), StoreError> {
        match self.running()? {
            Some(run) => Err(StoreError::Running { path: self.path().to_owned(), run: run.0 }),
            None => Ok(()),
        }
    }

    fn running(&self) -> Result<Option<RunId>, StoreError> {
        let states = self.run_states()?;
        Ok(states.into_iter().find(|(_, state)| *state == RunState::Running).map(|(run, _)| run))
    }
}

#[cfg(test)]
mod tests;
