//! Reads runs.

mod rows;

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};

use self::rows::{
    claim_record, instance_record, resumption_record, run_record, run_state, sample_record, slice_record,
    step_record, system_record, trial_record,
};
use crate::error::StoreError;
use crate::file::columns::{json, optional_json};
use crate::file::open::Store;
use crate::record::run::search::StoredSearch;
use crate::record::{RunId, SampleRecord, SystemRecord, TrialId, TrialRecord};
use crate::run::{Run, RunChoice, RunState, RunSummary, Trial};

impl Store {
    /// The text of the plan of a run.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn plan_text(&self, run: RunId) -> Result<String, StoreError> {
        self.connection()
            .query_row("SELECT plan_text FROM run WHERE id = ?1", [run.0], |row| row.get(0))
            .map_err(|error| self.error(error))
    }

    /// The comparison that the run makes for a search; `None` if the run does not belong to a search.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn search(&self, run: RunId) -> Result<Option<StoredSearch>, StoreError> {
        let read = |row: &Row<'_>| {
            let record = optional_json(row, "search")?;
            let (plan_text, scale) = (row.get("plan_text")?, row.get("scale")?);
            Ok(record.map(|record| StoredSearch { plan_text, scale, record }))
        };
        self.connection()
            .query_row("SELECT plan_text, scale, search FROM run WHERE id = ?1", [run.0], read)
            .map_err(|error| self.error(error))
    }

    /// Every run in the file, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.rows(
            "SELECT id, plan_name, plan_title, started_at_ms, finished_at_ms, status, owner,
                    search IS NOT NULL AS is_of_search,
                    (SELECT count(*) FROM trial WHERE run_id = run.id AND outcome = 'completed'
                                              AND NOT is_superseded) AS completed,
                    (SELECT count(*) FROM trial WHERE run_id = run.id AND outcome = 'failed'
                                              AND NOT is_superseded) AS failed
             FROM run ORDER BY id",
            [],
            |row| {
                Ok(RunSummary {
                    id: RunId(row.get("id")?),
                    plan_name: row.get("plan_name")?,
                    plan_title: row.get("plan_title")?,
                    started_at_ms: row.get("started_at_ms")?,
                    finished_at_ms: row.get("finished_at_ms")?,
                    state: run_state(row)?,
                    completed_trials: row.get("completed")?,
                    failed_trials: row.get("failed")?,
                    is_of_search: row.get("is_of_search")?,
                })
            },
        )
    }

    /// The state of each run, oldest first. This is faster than [`Store::runs`], because it does not count trials.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn run_states(&self) -> Result<Vec<(RunId, RunState)>, StoreError> {
        self.rows("SELECT id, status, owner FROM run ORDER BY id", [], |row| {
            Ok((RunId(row.get("id")?), run_state(row)?))
        })
    }

    /// A run with its systems, steps and trials. All data come from one snapshot, even if the run is in progress.
    ///
    /// # Errors
    /// The file cannot be read, or has no such run.
    pub fn load_run(&self, choice: RunChoice) -> Result<Run, StoreError> {
        // One read transaction is used, so that a concurrently committed trial is included completely or not at
        // all.
        let _snapshot = self.snapshot()?;
        let id = self.choose(choice)?;
        let mut found = self.rows("SELECT * FROM run WHERE id = ?1", [id.0], |row| {
            Ok(Run {
                finished_at_ms: row.get("finished_at_ms")?,
                allocation: optional_json(row, "allocation")?,
                left_tests: json(row, "left_tests")?,
                audit: optional_json(row, "audit")?,
                ..Run::new(id, run_record(row)?, run_state(row)?)
            })
        })?;
        let Some(mut run) = found.pop() else { return Err(self.no_such_run(id)?) };
        run.systems = self.systems(id)?;
        run.steps =
            self.rows("SELECT * FROM step WHERE run_id = ?1 ORDER BY position", [id.0], step_record)?;
        run.record.claims =
            self.rows("SELECT * FROM claim WHERE run_id = ?1 ORDER BY position", [id.0], claim_record)?;
        run.resumptions = self.rows(
            "SELECT * FROM resumption WHERE run_id = ?1 ORDER BY resumed_at_ms",
            [id.0],
            resumption_record,
        )?;
        run.attempts = self.attempts(id)?;
        run.instances = self.rows(
            "SELECT instance.* FROM instance JOIN system ON system.run_id = instance.run_id AND system.id = system_id
             WHERE instance.run_id = ?1 ORDER BY round, position",
            [id.0],
            instance_record,
        )?;
        run.crash_tests = self.crash_tests(id)?;
        let mut slices = self.by_trial(
            "SELECT slice.* FROM trial JOIN slice ON slice.trial_id = trial.id
             WHERE run_id = ?1 ORDER BY trial_id, cycle",
            id,
            slice_record,
        )?;
        let mut profiles = self.stack_profiles(id)?;
        let (mut plans, mut answers) = (self.query_plans(id)?, self.query_answers(id)?);
        let mut digests = self.replayed_digests(id)?;
        let mut counters = self.chosen_counters(id, &run.record.counters)?;
        let (mut step_events, mut timelines) = (self.step_events(id)?, self.timelines(id)?);
        let mut replicas = self.replicas(id)?;
        let mut trials = |is_superseded: bool| {
            self.rows(
                "SELECT * FROM trial WHERE run_id = ?1 AND is_superseded = ?2 ORDER BY position, id",
                params![id.0, is_superseded],
                |row| {
                    let id = row.get("id")?;
                    let slices = slices.remove(&id).unwrap_or_default();
                    let stacks = profiles.remove(&id);
                    let counters = counters.remove(&TrialId(id)).unwrap_or_default();
                    let (query_plan, query_answer) = (plans.remove(&id), answers.remove(&id));
                    let replayed = digests.remove(&id).unwrap_or_default();
                    let record = TrialRecord {
                        slices,
                        step_events: step_events.remove(&id).unwrap_or_default(),
                        timeline: timelines.remove(&id),
                        replicas: replicas.remove(&id).unwrap_or_default(),
                        stacks,
                        query_plan,
                        query_answer,
                        replayed,
                        counters,
                        ..trial_record(row)?
                    };
                    Ok(Trial { id: TrialId(id), record })
                },
            )
        };
        (run.trials, run.superseded) = (trials(false)?, trials(true)?);
        Ok(run)
    }

    /// The systems of a run with their variables, in the plan's order.
    pub(crate) fn systems(&self, id: RunId) -> Result<Vec<SystemRecord>, StoreError> {
        let mut systems =
            self.rows("SELECT * FROM system WHERE run_id = ?1 ORDER BY position", [id.0], system_record)?;
        for system in &mut systems {
            system.variables = self.rows(
                "SELECT name, value FROM variable WHERE run_id = ?1 AND system_id = ?2 ORDER BY name",
                params![id.0, system.id],
                |row| Ok((row.get("name")?, row.get("value")?)),
            )?;
        }
        Ok(systems)
    }

    /// The samples of a trial with their histograms, in order. [`Self::seconds`] is much faster, because it does not
    /// read the histograms.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn samples(&self, trial: TrialId) -> Result<Vec<SampleRecord>, StoreError> {
        let sql = "SELECT * FROM sample JOIN sample_latency USING (trial_id, number)
                   WHERE trial_id = ?1 ORDER BY number";
        self.rows(sql, [trial.0], sample_record)
    }

    fn choose(&self, choice: RunChoice) -> Result<RunId, StoreError> {
        match choice {
            RunChoice::Id(id) => Ok(id),
            RunChoice::Latest => self
                .connection()
                .query_row("SELECT id FROM run ORDER BY id DESC LIMIT 1", [], |row| row.get(0))
                .optional()
                .map_err(|error| self.error(error))?
                .map(RunId)
                .ok_or_else(|| StoreError::Empty { path: self.path().to_owned() }),
        }
    }

    /// The error for a missing run. Its message lists the existing runs.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn no_such_run(&self, id: RunId) -> Result<StoreError, StoreError> {
        let path = self.path().to_owned();
        let runs = self.runs()?;
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            return Ok(StoreError::Empty { path });
        };
        let known = if first.id == last.id {
            format!("run {}", first.id)
        } else {
            format!("runs {} to {}", first.id, last.id)
        };
        Ok(StoreError::NoSuchRun { path, run: id.0, known })
    }

    /// Calls a function with each row of a query.
    pub(crate) fn for_each_row(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let read = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                self.budget.take(row)?;
                each(row)?;
            }
            Ok(())
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns the results of a query about a run, grouped by the column `trial_id`.
    pub(crate) fn by_trial<T>(
        &self,
        sql: &str,
        run: RunId,
        map: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<HashMap<i64, Vec<T>>, StoreError> {
        let mut found: HashMap<i64, Vec<T>> = HashMap::new();
        self.for_each_row(sql, [run.0], |row| {
            found.entry(row.get("trial_id")?).or_default().push(map(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.for_each_row(sql, params, |row| {
            rows.push(map(row)?);
            Ok(())
        })?;
        Ok(rows)
    }
}
