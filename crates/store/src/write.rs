//! Writing a run, step by step and trial by trial.

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior, params, params_from_iter};

use crate::columns::{Counts, Usage};
use crate::error::StoreError;
use crate::latency;
use crate::open::Store;
use crate::owner;
use crate::record::{
    Measured, Outcome, Phase, RunRecord, SampleRecord, StepRecord, SystemRecord, TrialRecord,
};
use crate::run::{Ending, RunId, TrialId};

impl Store {
    /// Begins a run; it counts as running as long as this process lives and does not say how it ended.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create_run(&self, run: &RunRecord) -> Result<RunId, StoreError> {
        self.connection
            .execute(
                "INSERT INTO run (plan_name, plan_title, plan_text, dyno_version, seed, scale, command_line, host,
                                  started_at_ms, status, owner)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'running', ?10)",
                params![
                    run.plan_name,
                    run.plan_title,
                    run.plan_text,
                    run.dyno_version,
                    run.seed.cast_signed(),
                    run.scale,
                    run.command_line,
                    run.host.to_string(),
                    run.started_at_ms,
                    owner::current(),
                ],
            )
            .map_err(|error| self.error(error))?;
        Ok(RunId(self.connection.last_insert_rowid()))
    }

    /// Adds a system, or replaces what the run knows of it: a server tells its version and variables only
    /// once it has started.
    ///
    /// # Errors
    /// The file cannot be written, or has no such run.
    pub fn put_system(&mut self, run: RunId, system: &SystemRecord) -> Result<(), StoreError> {
        self.transaction(|transaction| put_system(transaction, run, system))
    }

    /// Adds a step.
    ///
    /// # Errors
    /// The file cannot be written, has no such run, or the run has a step of this id.
    pub fn add_step(&self, run: RunId, step: &StepRecord) -> Result<(), StoreError> {
        self.connection
            .execute(
                "INSERT INTO step (run_id, id, group_name, position, workload, command, operation, clients, trials,
                                   seconds, warmup_seconds, options)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                params![
                    run.0,
                    step.id,
                    step.group,
                    step.position,
                    step.workload,
                    step.command,
                    step.operation.as_str(),
                    serde_json::json!(step.clients).to_string(),
                    step.trials,
                    step.seconds,
                    step.warmup_seconds,
                    step.options.to_string(),
                ],
            )
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    /// Adds a trial with its samples, all or nothing. When this returns, the trial survives a kill and a
    /// power failure.
    ///
    /// # Errors
    /// The file cannot be written, does not know the trial's run, system or step, or has the trial already.
    pub fn commit_trial(&mut self, run: RunId, trial: &TrialRecord) -> Result<TrialId, StoreError> {
        self.transaction(|transaction| {
            let id = insert_trial(transaction, run, trial)?;
            for sample in &trial.samples {
                insert_sample(transaction, id, sample)?;
            }
            Ok(id)
        })
    }

    /// Says how a run ended.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish_run(&self, run: RunId, ending: Ending, finished_at_ms: i64) -> Result<(), StoreError> {
        let status = match ending {
            Ending::Finished => "finished",
            Ending::Interrupted => "interrupted",
            Ending::Failed => "failed",
        };
        self.connection
            .execute(
                "UPDATE run SET status = ?2, finished_at_ms = ?3 WHERE id = ?1",
                params![run.0, status, finished_at_ms],
            )
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    fn transaction<T>(
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

fn put_system(transaction: &Transaction<'_>, run: RunId, system: &SystemRecord) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO system (run_id, id, name, engine_version, position, is_base, requested_settings)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (run_id, id) DO UPDATE SET
             name = excluded.name, engine_version = excluded.engine_version, position = excluded.position,
             is_base = excluded.is_base, requested_settings = excluded.requested_settings",
        params![
            run.0,
            system.id,
            system.name,
            system.engine_version,
            system.position,
            system.is_base,
            system.requested_settings.to_string(),
        ],
    )?;
    transaction
        .execute("DELETE FROM variable WHERE run_id = ?1 AND system_id = ?2", params![run.0, system.id])?;
    let mut insert = transaction
        .prepare("INSERT INTO variable (run_id, system_id, name, value) VALUES (?1, ?2, ?3, ?4)")?;
    for (name, value) in &system.variables {
        insert.execute(params![run.0, system.id, name, value])?;
    }
    Ok(())
}

fn insert_trial(transaction: &Transaction<'_>, run: RunId, trial: &TrialRecord) -> rusqlite::Result<TrialId> {
    let (outcome, message, log_tail) = match &trial.outcome {
        Outcome::Completed => ("completed", None, None),
        Outcome::Failed { message, log_tail } => ("failed", Some(message.clone()), Some(log_tail.clone())),
    };
    let mut row = Row::default();
    row.set("run_id", run.0);
    row.set("system_id", trial.system_id.clone());
    row.set("step_id", trial.step_id.clone());
    row.set("clients", trial.clients);
    row.set("trial", trial.trial);
    row.set("position", trial.position);
    row.set("started_at_ms", trial.started_at_ms);
    row.set("outcome", outcome.to_owned());
    row.set("message", message);
    row.set("log_tail", log_tail);
    row.set("disk_bytes_after", trial.disk_bytes_after.map(u64::cast_signed));
    if let Some(measured) = &trial.measured {
        row.set_measured(measured);
    }
    row.set_all(Usage::COLUMNS, trial.usage.values());
    row.insert(transaction, "trial")?;
    Ok(TrialId(transaction.last_insert_rowid()))
}

fn insert_sample(
    transaction: &Transaction<'_>,
    trial: TrialId,
    sample: &SampleRecord,
) -> rusqlite::Result<()> {
    let phase = match sample.phase {
        Phase::Warmup => "warmup",
        Phase::Measure => "measure",
    };
    let mut row = Row::default();
    row.set("trial_id", trial.0);
    row.set("number", sample.number);
    row.set("phase", phase.to_owned());
    row.set_measured(&sample.measured);
    row.set_all(Usage::COLUMNS, sample.usage.values());
    row.insert(transaction, "sample")
}

/// A row to insert, column by column.
#[derive(Default)]
struct Row {
    columns: Vec<&'static str>,
    values: Vec<Value>,
}

impl Row {
    fn set(&mut self, column: &'static str, value: impl Into<Value>) {
        self.columns.push(column);
        self.values.push(value.into());
    }

    fn set_all(&mut self, columns: &[&'static str], values: impl IntoIterator<Item = Value>) {
        self.columns.extend(columns);
        self.values.extend(values);
    }

    fn set_measured(&mut self, measured: &Measured) {
        self.set("seconds", measured.seconds);
        self.set_all(Counts::COLUMNS, measured.counts.values());
        self.set("latency", measured.latency.clone());
        self.set_all(latency::COLUMNS, latency::figures(&measured.latency));
    }

    fn insert(self, transaction: &Transaction<'_>, table: &str) -> rusqlite::Result<()> {
        let places = vec!["?"; self.columns.len()].join(", ");
        let sql = format!("INSERT INTO {table} ({}) VALUES ({places})", self.columns.join(", "));
        transaction.prepare_cached(&sql)?.execute(params_from_iter(self.values))?;
        Ok(())
    }
}
