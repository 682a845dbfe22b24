//! Merges another results file into this one.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params_from_iter};

use crate::counters;
use crate::error::StoreError;
use crate::open::Store;
use crate::run::{RunId, RunState};
use crate::tables::{OF_RUN, OF_TRIAL, rows_of_run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedRun {
    /// Its id in the other file.
    pub source: RunId,
    pub merged: Merged,
}

/// Action of a merge on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// It was added with this id.
    Added(RunId),
    /// This file had a less complete copy. It was replaced and keeps its id.
    Replaced(RunId),
    /// This file has the same run with this id, at least as complete. It was not changed.
    Kept(RunId),
    /// It is in progress and was not copied.
    StillRunning,
}

/// Completeness of a run in a file: completed trials, then all trials, then whether its end is known. Larger is more
/// complete.
type Fullness = (i64, i64, bool);

impl Store {
    /// Copies every run of another file, or none. Two runs are the same if host, start time, plan and seed are equal.
    /// Of these the more complete one is kept.
    ///
    /// # Errors
    /// One of this file's runs is in progress, a file cannot be read, or this one cannot be written.
    pub fn merge(&mut self, source: &Store) -> Result<Vec<MergedRun>, StoreError> {
        let snapshot = source.snapshot()?;
        let transaction = self.quiet_transaction()?;
        let mut merged = Vec::new();
        for (run, state) in source.run_states()? {
            let done =
                if state == RunState::Running { Merged::StillRunning } else { self.merge_run(source, run)? };
            merged.push(MergedRun { source: run, merged: done });
        }
        transaction.commit().map_err(|error| self.error(error))?;
        drop(snapshot);
        Ok(merged)
    }

    fn merge_run(&self, source: &Store, run: RunId) -> Result<Merged, StoreError> {
        let Some(here) = self.find_same(source, run)? else {
            return self.take_over(source, run, None).map(Merged::Added);
        };
        if self.fullness(here)? >= source.fullness(run)? {
            return Ok(Merged::Kept(here));
        }
        self.connection
            .execute("DELETE FROM run WHERE id = ?1", [here.0])
            .map_err(|error| self.error(error))?;
        self.take_over(source, run, Some(here)).map(Merged::Replaced)
    }

    /// The number in this file of a run of another file.
    fn find_same(&self, source: &Store, run: RunId) -> Result<Option<RunId>, StoreError> {
        let identity = |row: &Row<'_>| -> rusqlite::Result<[Value; 4]> {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        };
        let sql = "SELECT started_at_ms, seed, host, plan_text FROM run WHERE id = ?1";
        let identity =
            source.connection.query_row(sql, [run.0], identity).map_err(|error| source.error(error))?;
        self.connection
            .query_row(
                "SELECT id FROM run WHERE started_at_ms = ?1 AND seed = ?2 AND host = ?3 AND plan_text = ?4",
                params_from_iter(identity),
                |row| row.get(0).map(RunId),
            )
            .optional()
            .map_err(|error| self.error(error))
    }

    fn fullness(&self, run: RunId) -> Result<Fullness, StoreError> {
        self.connection
            .query_row(
                "SELECT (SELECT count(*) FROM trial WHERE run_id = ?1 AND outcome = 'completed'),
                        (SELECT count(*) FROM trial WHERE run_id = ?1),
                        (SELECT finished_at_ms IS NOT NULL FROM run WHERE id = ?1)",
                [run.0],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .map_err(|error| self.error(error))
    }

    /// Copies a run, with the given number or a new one.
    fn take_over(&self, source: &Store, run: RunId, number: Option<RunId>) -> Result<RunId, StoreError> {
        let copy = Copy {
            source,
            target: self,
            run,
            new_run: number.map_or(Value::Null, |number| number.0.into()),
            trials: HashMap::new(),
            counters: HashMap::new(),
        };
        copy.carry_out()
    }
}

/// A run that is being copied to another file.
struct Copy<'a> {
    source: &'a Store,
    target: &'a Store,
    run: RunId,
    /// The run's number in the target; NULL until the target has assigned it.
    new_run: Value,
    /// Numbers of trials and counters in the target, by their numbers in the source.
    trials: HashMap<i64, i64>,
    counters: HashMap<i64, i64>,
}

impl Copy<'_> {
    fn carry_out(mut self) -> Result<RunId, StoreError> {
        self.rows("run")?;
        let id = self.target.connection.last_insert_rowid();
        self.new_run = id.into();
        for table in OF_RUN {
            self.rows(table)?;
        }
        self.rows("trial")?;
        self.map_counters()?;
        for table in OF_TRIAL {
            self.rows(table)?;
        }
        Ok(RunId(id))
    }

    /// Copies the run's rows of a table.
    fn rows(&mut self, table: &str) -> Result<(), StoreError> {
        let (source, target) = (self.source, self.target);
        let columns = source.columns(table)?;
        let list = columns.join(", ");
        // New numbers are in the order of the old ones.
        let order = if table == "trial" { " ORDER BY id" } else { "" };
        let places = vec!["?"; columns.len()].join(", ");
        let mut insert = target
            .connection
            .prepare(&format!("INSERT INTO {table} ({list}) VALUES ({places})"))
            .map_err(|error| target.error(error))?;
        let mut select = source
            .connection
            .prepare(&format!("SELECT {list} {}{order}", rows_of_run(table)))
            .map_err(|error| source.error(error))?;
        let mut rows = select.query([self.run.0]).map_err(|error| source.error(error))?;
        while let Some(row) = rows.next().map_err(|error| source.error(error))? {
            let values: rusqlite::Result<Vec<Value>> = columns
                .iter()
                .enumerate()
                .map(|(index, column)| self.translate(table, column, row.get(index)?))
                .collect();
            insert
                .execute(params_from_iter(values.map_err(|error| source.error(error))?))
                .map_err(|error| target.error(error))?;
            if table == "trial" {
                let old = row.get("id").map_err(|error| source.error(error))?;
                self.trials.insert(old, target.connection.last_insert_rowid());
            }
        }
        Ok(())
    }

    /// Converts a value of the source to the target's numbers.
    fn translate(&self, table: &str, column: &str, value: Value) -> rusqlite::Result<Value> {
        let mapped = |numbers: &HashMap<i64, i64>| match value {
            Value::Integer(old) => numbers.get(&old).copied().map(Value::Integer),
            _ => None,
        };
        match (table, column) {
            ("run", "id") | (_, "run_id") => Ok(self.new_run.clone()),
            ("trial", "id") => Ok(Value::Null),
            (_, "trial_id") => mapped(&self.trials).ok_or(rusqlite::Error::QueryReturnedNoRows),
            (_, "counter_id") => mapped(&self.counters).ok_or(rusqlite::Error::QueryReturnedNoRows),
            _ => Ok(value),
        }
    }

    /// All runs of a file share counters, by name.
    fn map_counters(&mut self) -> Result<(), StoreError> {
        let counters: Vec<(i64, String, bool)> =
            self.source.rows("SELECT id, name, is_gauge FROM counter", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        for (old, name, is_gauge) in counters {
            let new = counters::number(&self.target.connection, &name, is_gauge)
                .map_err(|error| self.target.error(error))?;
            self.counters.insert(old, new);
        }
        Ok(())
    }
}
