//! Writes runs.

mod rows;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use self::rows::{insert_run, insert_step, insert_whole, put_system};
use crate::error::StoreError;
use crate::file::open::Store;
use crate::file::owner;
use crate::file::row::Row;
use crate::record::{
    Allocation, InstanceRecord, LeftTest, ResumptionRecord, RunId, RunRecord, StepRecord, SystemRecord,
    TrialId, TrialRecord,
};
use crate::run::Ending;

impl Store {
    /// Records the start of a run. The run counts as running until this process records its end or dies.
    ///
    /// # Errors
    /// The file cannot be written, or two claims have the same id.
    pub fn create_run(&mut self, run: &RunRecord) -> Result<RunId, StoreError> {
        self.begin_run(run, &[], &[])
    }

    /// Records the start of a run, with its steps and systems, in one transaction.
    ///
    /// # Errors
    /// The errors of [`Self::create_run`], or two steps have the same id.
    pub fn begin_run(
        &mut self,
        run: &RunRecord,
        steps: &[StepRecord],
        systems: &[SystemRecord],
    ) -> Result<RunId, StoreError> {
        self.transaction(|transaction| {
            let id = insert_run(transaction, run)?;
            steps.iter().try_for_each(|step| insert_step(transaction, id, step))?;
            systems.iter().try_for_each(|system| put_system(transaction, id, system))?;
            Ok(id)
        })
    }

    /// Records that a run that ended early is resumed. The run counts as running again.
    ///
    /// # Errors
    /// Another process has resumed the run, or the file cannot be written.
    pub fn resume_run(&mut self, run: RunId, resumption: &ResumptionRecord) -> Result<(), StoreError> {
        let is_ours = self.transaction(|transaction| {
            let (status, owner): (String, String) =
                transaction.query_row("SELECT status, owner FROM run WHERE id = ?1", [run.0], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            if status == "running" && owner != owner::current() && owner::is_alive(&owner) {
                return Ok(false);
            }
            transaction.execute(
                "UPDATE run SET status = 'running', finished_at_ms = NULL, owner = ?2 WHERE id = ?1",
                params![run.0, owner::current()],
            )?;
            let mut row = Row::default();
            row.set("run_id", run.0);
            row.set("resumed_at_ms", resumption.resumed_at_ms);
            row.set("host", serde_json::json!(resumption.host).to_string());
            row.set("differences", serde_json::json!(resumption.differences).to_string());
            row.insert(transaction, "resumption").map(|()| true)
        })?;
        if is_ours { Ok(()) } else { Err(StoreError::Running { path: self.path().to_owned(), run: run.0 }) }
    }

    /// Records the audit of comparability.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_audit(&self, run: RunId, audit: &serde_json::Value) -> Result<(), StoreError> {
        self.connection()
            .execute("UPDATE run SET audit = ?2 WHERE id = ?1", params![run.0, audit.to_string()])
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    /// Records the division of a time budget.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_allocation(&self, run: RunId, allocation: &Allocation) -> Result<(), StoreError> {
        self.connection()
            .execute(
                "UPDATE run SET allocation = ?2 WHERE id = ?1",
                params![run.0, serde_json::json!(allocation).to_string()],
            )
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    /// Records all tests that the run has stopped measuring so far. The list replaces the earlier one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_left_tests(&self, run: RunId, left: &[LeftTest]) -> Result<(), StoreError> {
        self.connection()
            .execute(
                "UPDATE run SET left_tests = ?2 WHERE id = ?1",
                params![run.0, serde_json::json!(left).to_string()],
            )
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    /// Adds an instance. It replaces an earlier instance of the same system and round, because a resumed round
    /// starts its systems again.
    ///
    /// # Errors
    /// The file cannot be written, or has no such run or system.
    pub fn put_instance(&mut self, run: RunId, instance: &InstanceRecord) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            transaction.execute(
                "DELETE FROM instance WHERE run_id = ?1 AND system_id = ?2 AND round = ?3",
                params![run.0, instance.system_id, instance.round],
            )?;
            let mut row = Row::default();
            row.set("run_id", run.0);
            row.set("system_id", instance.system_id.clone());
            row.set("round", instance.round);
            row.set("started_at_ms", instance.started_at_ms);
            row.set("is_fresh", instance.is_fresh);
            row.set("start_seconds", instance.start_seconds);
            row.set("warm_seconds", instance.warm_seconds);
            row.set("settle_seconds", instance.settle_seconds);
            row.insert(transaction, "instance")
        })
    }

    /// Adds a system. If the run has the system already, its version and variables are updated, because a server
    /// reports them only after its start.
    ///
    /// # Errors
    /// The file cannot be written, or has no such run.
    pub fn put_system(&mut self, run: RunId, system: &SystemRecord) -> Result<(), StoreError> {
        self.transaction(|transaction| put_system(transaction, run, system))
    }

    /// Adds a step.
    ///
    /// # Errors
    /// The file cannot be written, it has no such run, or the run already has a step with this id.
    pub fn add_step(&mut self, run: RunId, step: &StepRecord) -> Result<(), StoreError> {
        self.transaction(|transaction| insert_step(transaction, run, step))
    }

    /// Adds a trial with its samples and counters in one transaction. When this returns, the trial survives a kill
    /// and a power failure. The trial replaces a failed trial of the same test and round.
    ///
    /// # Errors
    /// The file cannot be written, has no such run, system or step, or already has the trial.
    pub fn commit_trial(&mut self, run: RunId, trial: &TrialRecord) -> Result<TrialId, StoreError> {
        self.transaction(|transaction| insert_whole(transaction, run, trial))
    }

    /// Adds a trial that repeats an earlier trial of the same test and round. The earlier trial is kept as
    /// superseded and does not count. The transaction is as safe as that of [`Self::commit_trial`].
    ///
    /// # Errors
    /// The file cannot be written, or has no such run, system or step.
    pub fn commit_rerun(&mut self, run: RunId, trial: &TrialRecord) -> Result<TrialId, StoreError> {
        self.transaction(|transaction| {
            transaction.execute(
                "UPDATE trial SET is_superseded = 1
                 WHERE run_id = ?1 AND step_id = ?2 AND clients = ?3 AND system_id = ?4 AND round = ?5",
                params![run.0, trial.step_id, trial.clients, trial.system_id, trial.round],
            )?;
            insert_whole(transaction, run, trial)
        })
    }

    /// Records the end of a run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish_run(&self, run: RunId, ending: Ending, finished_at_ms: i64) -> Result<(), StoreError> {
        let status = match ending {
            Ending::Finished => "finished",
            Ending::Interrupted => "interrupted",
            Ending::Failed => "failed",
        };
        self.connection()
            .execute(
                "UPDATE run SET status = ?2, finished_at_ms = ?3 WHERE id = ?1",
                params![run.0, status, finished_at_ms],
            )
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(|error| self.error(error))
    }
}
