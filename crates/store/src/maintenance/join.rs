//! Joins the rounds of a run that is spread over hosts. Each task runs some rounds on one host and writes them to
//! its own file.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior};

use super::merge::{Copy, Part};
use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::RunId;
use crate::record::run::attempt;

/// Query for the columns of the table `run` whose values must be the same in every task's file.
const OF_PLAN: &str = "SELECT plan_text, seed, scale FROM run WHERE id = ?1";
/// Query for the columns of the table `system` whose values must be the same in every task's file.
const OF_SYSTEMS: &str =
    "SELECT id, name, requested_settings, confinement FROM system WHERE run_id = ?1 ORDER BY position";

/// A system's id, and the version and image of its server.
type Server = (String, [Option<String>; 2]);

impl Store {
    /// Adds the rounds of a task's file to a run that may be in progress. Returns the numbers of the rounds that were
    /// added.
    ///
    /// # Errors
    /// The task's file has no run with the same spread id, its run does not fit this run, the task's file cannot be
    /// read, or this file cannot be written.
    pub fn join(&mut self, run: RunId, source: &Store) -> Result<Vec<u32>, StoreError> {
        let snapshot = source.snapshot()?;
        let transaction = Transaction::new_unchecked(self.connection(), TransactionBehavior::Immediate)
            .map_err(|error| self.error(error))?;
        let mut joined = Vec::new();
        for (other, _) in source.run_states()? {
            if self.find_spread(source, other)? == Some(run) {
                joined.extend(self.join_run(run, source, other)?);
            }
        }
        if joined.is_empty() && !source.has_spread(self.spread_id(run)?)? {
            return Err(self.does_not_fit(run, source, "it has no round of this run"));
        }
        transaction.commit().map_err(|error| self.error(error))?;
        drop(snapshot);
        Ok(joined)
    }

    /// Finds the run of this file that has the same spread id as a run of another file.
    pub(super) fn find_spread(&self, source: &Store, run: RunId) -> Result<Option<RunId>, StoreError> {
        let Some(spread) = source.spread_id(run)? else { return Ok(None) };
        self.connection()
            .query_row("SELECT id FROM run WHERE spread_id = ?1", [spread], |row| row.get(0).map(RunId))
            .optional()
            .map_err(|error| self.error(error))
    }

    /// Adds those rounds of another file's run that this file lacks, and returns the numbers of these rounds. The
    /// caller begins and commits the transaction.
    pub(super) fn join_run(&self, here: RunId, source: &Store, run: RunId) -> Result<Vec<u32>, StoreError> {
        self.check_fits(here, source, run)?;
        let rounds = |store: &Store, run: RunId| -> Result<Vec<u32>, StoreError> {
            store.rows("SELECT DISTINCT round FROM trial WHERE run_id = ?1 ORDER BY 1", [run.0], |row| {
                row.get(0)
            })
        };
        let known = rounds(self, here)?;
        let is_first = self.attempts(here)?.iter().all(|attempt| attempt.loss.is_some());
        let missing: Vec<u32> =
            rounds(source, run)?.into_iter().filter(|round| !known.contains(round)).collect();
        for attempt in source.attempts(run)?.iter().filter(|attempt| missing.contains(&attempt.round)) {
            attempt::insert(self.connection(), here, attempt).map_err(|error| self.error(error))?;
        }
        self.take_facts(here, source, run, is_first)?;
        let next: i64 = self
            .connection()
            .query_row(
                "SELECT coalesce(max(position) + 1, 0) FROM trial WHERE run_id = ?1",
                [here.0],
                |row| row.get(0),
            )
            .map_err(|error| self.error(error))?;
        let part = Part::Rounds { rounds: missing.clone(), first_position: next };
        Copy::new(source, self, run, here.0.into(), part).rounds()?;
        Ok(missing)
    }

    /// Copies versions, variables and the audit from the other file, as far as this file lacks them. Only a host that
    /// has started the systems knows these facts. The first host that delivers a round also becomes the run's host, in
    /// place of the host that submitted the run.
    fn take_facts(&self, here: RunId, source: &Store, run: RunId, is_first: bool) -> Result<(), StoreError> {
        let update = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            self.connection().execute(sql, values).map_err(|error| self.error(error))
        };
        for system in source.systems(run)?.iter().filter(|system| system.engine_version.is_some()) {
            let is_news = update(
                "UPDATE system SET engine_version = ?3, encryption = ?4, image = ?5
                 WHERE run_id = ?1 AND id = ?2 AND engine_version IS NULL",
                &[&here.0, &system.id, &system.engine_version, &system.encryption, &system.image],
            )? > 0;
            for (name, value) in system.variables.iter().filter(|_| is_news) {
                update(
                    "INSERT INTO variable (run_id, system_id, name, value) VALUES (?1, ?2, ?3, ?4)",
                    &[&here.0, &system.id, name, value],
                )?;
            }
        }
        let facts = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (host, audit): (String, Option<String>) = source
            .connection()
            .query_row("SELECT host, audit FROM run WHERE id = ?1", [run.0], facts)
            .map_err(|error| source.error(error))?;
        if is_first {
            update("UPDATE run SET host = ?2 WHERE id = ?1", &[&here.0, &host])?;
        }
        update("UPDATE run SET audit = ?2 WHERE id = ?1 AND audit IS NULL", &[&here.0, &audit])?;
        Ok(())
    }

    /// Checks that two runs have the same plan and seed, and the same steps and systems of the same versions.
    fn check_fits(&self, here: RunId, source: &Store, run: RunId) -> Result<(), StoreError> {
        let columns = source.columns("step")?;
        let steps: Vec<&str> = columns.iter().map(String::as_str).filter(|name| *name != "run_id").collect();
        let of_steps = format!("SELECT {} FROM step WHERE run_id = ?1 ORDER BY position", steps.join(", "));
        for (sql, difference) in [
            (OF_PLAN, "it is of another plan, seed or scale"),
            (of_steps.as_str(), "it has other steps, seconds or rounds"),
            (OF_SYSTEMS, "it has other systems or settings"),
        ] {
            if self.values(sql, here)? != source.values(sql, run)? {
                return Err(self.does_not_fit(here, source, difference));
            }
        }
        // The images of servers in containers are compared too, because two images may contain the same version.
        let servers = |store: &Store, run: RunId| -> Result<Vec<Server>, StoreError> {
            let sql = "SELECT id, engine_version, image FROM system WHERE run_id = ?1 ORDER BY position";
            store.rows(sql, [run.0], |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?])))
        };
        for ((system, known), (_, other)) in servers(self, here)?.into_iter().zip(servers(source, run)?) {
            let differs = known.into_iter().zip(other).find_map(|(known, other)| {
                let (known, other) = known.zip(other)?;
                (known != other).then_some((known, other))
            });
            if let Some((known, other)) = differs {
                let difference =
                    format!("its system `{system}` was {other}, and is {known} in the other rounds");
                return Err(self.does_not_fit(here, source, &difference));
            }
        }
        Ok(())
    }

    /// Returns the rows of a query about a run, each as a list of its values.
    fn values(&self, sql: &str, run: RunId) -> Result<Vec<Vec<Value>>, StoreError> {
        self.rows(sql, [run.0], |row| (0..row.as_ref().column_count()).map(|at| row.get(at)).collect())
    }

    fn spread_id(&self, run: RunId) -> Result<Option<String>, StoreError> {
        self.connection()
            .query_row("SELECT spread_id FROM run WHERE id = ?1", [run.0], |row| row.get(0))
            .map_err(|error| self.error(error))
    }

    fn has_spread(&self, spread: Option<String>) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM run WHERE spread_id = ?1)";
        self.connection().query_row(sql, [spread], |row| row.get(0)).map_err(|error| self.error(error))
    }

    fn does_not_fit(&self, here: RunId, source: &Store, difference: &str) -> StoreError {
        StoreError::NotOfRun {
            path: source.path().to_owned(),
            of: self.path().to_owned(),
            run: here.0,
            difference: difference.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
