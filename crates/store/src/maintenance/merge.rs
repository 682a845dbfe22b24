//! Merges another results file into this one.

use std::collections::HashMap;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::file::tables::{OF_RUN, OF_TRIAL, rows_of_run};
use crate::record::RunId;
use crate::record::trial::counters;
use crate::run::RunState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedRun {
    /// The run's id in the other file.
    pub source: RunId,
    pub merged: Merged,
}

/// What a merge did with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The run was added with this id.
    Added(RunId),
    /// This file had a less complete copy with this id. It was replaced, and the id stays the same.
    Replaced(RunId),
    /// This file already has the run under this id, and its copy is at least as complete. The copy was not changed.
    Kept(RunId),
    /// Both files have rounds of a run that is spread over hosts. The missing rounds were added to the run with
    /// this id.
    Joined { run: RunId, rounds: usize },
    /// The run is in progress and was not copied.
    StillRunning,
}

impl Store {
    /// Copies all runs of another file, or none if an error occurs. Runs that are in progress there are not copied.
    /// Two runs are the same if host, start time, plan and seed are equal. Of two copies of a run, the more
    /// complete copy is kept. If a run is spread over hosts, its missing rounds are added.
    ///
    /// # Errors
    /// One of this file's runs is in progress, a file cannot be read, this file cannot be written, or the rounds of
    /// a run that is spread over hosts do not fit together.
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
        if let Some(here) = self.find_spread(source, run)? {
            let rounds = self.join_run(here, source, run)?;
            return Ok(Merged::Joined { run: here, rounds: rounds.len() });
        }
        let Some(here) = self.find_same(source, run)? else {
            return self.take_over(source, run, None).map(Merged::Added);
        };
        if self.completeness(here)? >= source.completeness(run)? {
            return Ok(Merged::Kept(here));
        }
        self.connection()
            .execute("DELETE FROM run WHERE id = ?1", [here.0])
            .map_err(|error| self.error(error))?;
        self.take_over(source, run, Some(here)).map(Merged::Replaced)
    }

    /// Returns the number that a run of another file has in this file; `None` if this file does not have the run.
    fn find_same(&self, source: &Store, run: RunId) -> Result<Option<RunId>, StoreError> {
        let same = source.run_identity(run)?;
        self.connection()
            .query_row(
                "SELECT id FROM run WHERE started_at_ms = ?1 AND seed = ?2 AND host = ?3 AND plan_text = ?4",
                params![same.started_at_ms, same.seed.cast_signed(), same.host, same.plan_text],
                |row| row.get(0).map(RunId),
            )
            .optional()
            .map_err(|error| self.error(error))
    }

    /// Copies a run. The copy gets `number`, or a new number if that is `None`. Returns the copy's number.
    fn take_over(&self, source: &Store, run: RunId, number: Option<RunId>) -> Result<RunId, StoreError> {
        let number = number.map_or(Value::Null, |number| number.0.into());
        Copy::new(source, self, run, number, Part::Whole).carry_out()
    }
}

/// The role of a column when rows are copied. It decides how the values of the column are translated.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// The run's number.
    Run,
    /// The row's own number, which the target file assigns.
    OwnNumber,
    /// The position of a trial in its run.
    Position,
    Trial,
    Counter,
    /// The value is copied unchanged.
    Content,
}

impl Role {
    fn of(table: &str, column: &str) -> Self {
        match (table, column) {
            ("run", "id") | (_, "run_id") => Self::Run,
            ("trial", "id") => Self::OwnNumber,
            ("trial", "position") => Self::Position,
            (_, "trial_id") => Self::Trial,
            (_, "counter_id") => Self::Counter,
            _ => Self::Content,
        }
    }
}

/// A run that is being copied to another file.
pub(super) struct Copy<'a> {
    source: &'a Store,
    target: &'a Store,
    run: RunId,
    /// The run's number in the target; NULL until the target has assigned it.
    new_run: Value,
    part: Part,
    /// Maps the numbers of trials in the source to their numbers in the target. `counters` does the same for
    /// counters.
    trials: HashMap<i64, i64>,
    counters: HashMap<i64, i64>,
}

/// The part of a run that is copied.
pub(super) enum Part {
    Whole,
    /// Some rounds. The positions of their trials follow the positions of the trials that the target already has.
    Rounds {
        rounds: Vec<u32>,
        first_position: i64,
    },
}

impl Part {
    /// The SQL condition that selects the rows of the part, for a table whose rows belong to rounds.
    fn condition(&self, table: &str) -> String {
        match self {
            Self::Rounds { rounds, .. } if OF_TRIAL.contains(&table) => {
                format!(" AND trial_id IN (SELECT id FROM trial WHERE round IN ({}))", list(rounds))
            }
            Self::Rounds { rounds, .. } => format!(" AND round IN ({})", list(rounds)),
            Self::Whole => String::new(),
        }
    }
}

/// The rounds as a list for SQL: `1, 2, 5`.
fn list(rounds: &[u32]) -> String {
    rounds.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

impl<'a> Copy<'a> {
    pub(super) fn new(source: &'a Store, target: &'a Store, run: RunId, new_run: Value, part: Part) -> Self {
        Self { source, target, run, new_run, part, trials: HashMap::new(), counters: HashMap::new() }
    }

    /// Copies the rounds of this [`Part`].
    pub(super) fn rounds(mut self) -> Result<(), StoreError> {
        self.rows("instance")?;
        self.trials()
    }

    fn carry_out(mut self) -> Result<RunId, StoreError> {
        self.rows("run")?;
        let id = self.target.connection().last_insert_rowid();
        self.new_run = id.into();
        for table in OF_RUN {
            self.rows(table)?;
        }
        self.trials()?;
        Ok(RunId(id))
    }

    fn trials(&mut self) -> Result<(), StoreError> {
        self.rows("trial")?;
        self.map_counters()?;
        OF_TRIAL.iter().try_for_each(|table| self.rows(table))
    }

    /// Copies the run's rows of a table.
    fn rows(&mut self, table: &str) -> Result<(), StoreError> {
        let (source, target) = (self.source, self.target);
        let columns = source.columns(table)?;
        let list = columns.join(", ");
        // Trials are copied in the order of their numbers, so that the new numbers are in the same order.
        let order = if table == "trial" { " ORDER BY id" } else { "" };
        let places = vec!["?"; columns.len()].join(", ");
        let mut insert = target
            .connection()
            .prepare(&format!("INSERT INTO {table} ({list}) VALUES ({places})"))
            .map_err(|error| target.error(error))?;
        let mut select = source
            .connection()
            .prepare(&format!("SELECT {list} {}{}{order}", rows_of_run(table), self.part.condition(table)))
            .map_err(|error| source.error(error))?;
        let roles: Vec<Role> = columns.iter().map(|column| Role::of(table, column)).collect();
        let mut rows = select.query([self.run.0]).map_err(|error| source.error(error))?;
        while let Some(row) = rows.next().map_err(|error| source.error(error))? {
            source.budget.copy(row).map_err(|error| source.error(error))?;
            for (index, role) in roles.iter().enumerate() {
                let value = row.get_ref(index).and_then(|value| self.translate(*role, value));
                let value = ToSqlOutput::Borrowed(value.map_err(|error| source.error(error))?);
                insert.raw_bind_parameter(index + 1, value).map_err(|error| target.error(error))?;
            }
            insert.raw_execute().map_err(|error| target.error(error))?;
            if table == "trial" {
                let old = row.get("id").map_err(|error| source.error(error))?;
                self.trials.insert(old, target.connection().last_insert_rowid());
            }
        }
        Ok(())
    }

    /// Converts a value of the source to the value that the target gets.
    fn translate<'v>(&'v self, role: Role, value: ValueRef<'v>) -> rusqlite::Result<ValueRef<'v>> {
        let mapped = |numbers: &HashMap<i64, i64>| {
            let new = numbers.get(&value.as_i64()?).copied().map(ValueRef::Integer);
            new.ok_or(rusqlite::Error::QueryReturnedNoRows)
        };
        match role {
            Role::Run => Ok(ValueRef::from(&self.new_run)),
            Role::OwnNumber => Ok(ValueRef::Null),
            Role::Position => match self.part {
                Part::Rounds { first_position, .. } => {
                    Ok(ValueRef::Integer(value.as_i64()?.saturating_add(first_position)))
                }
                Part::Whole => Ok(value),
            },
            Role::Trial => mapped(&self.trials),
            Role::Counter => mapped(&self.counters),
            Role::Content => Ok(value),
        }
    }

    /// Maps the numbers of counters in the source to those in the target. In a file, all runs use the same number for
    /// the same counter name.
    fn map_counters(&mut self) -> Result<(), StoreError> {
        let counters: Vec<(i64, String, bool)> =
            self.source.rows("SELECT id, name, is_gauge FROM counter", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        for (old, name, is_gauge) in counters {
            let new = counters::number(self.target.connection(), &name, is_gauge)
                .map_err(|error| self.target.error(error))?;
            self.counters.insert(old, new);
        }
        Ok(())
    }
}
