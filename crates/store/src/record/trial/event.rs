//! Events of the plan (actions on a system while its load runs), and the times at which transactions ended.

use std::collections::HashMap;

use rusqlite::{Row, Transaction, params};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::file::columns::unfit;
use crate::file::open::Store;
use crate::record::TrialRecord;
use crate::record::{RunId, TrialId};

/// An event of the plan in a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepEventRecord {
    /// The event's name in the plan.
    pub id: String,
    pub kind: EventKind,
    /// The statement or command of the event, or its number of seconds, connections or milliseconds.
    pub what: String,
    /// When the event was due, in seconds since the measurement began.
    pub at_seconds: f64,
    /// When the event began; `None` if it did not begin.
    pub began_seconds: Option<f64>,
    /// When the event ended or was abandoned; `None` if it did not begin.
    pub ended_seconds: Option<f64>,
    pub outcome: EventOutcome,
    /// Why the event failed; `None` if it did not fail.
    pub error: Option<String>,
}

/// The action of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Executes a statement.
    #[default]
    Sql,
    /// Runs a shell command.
    Command,
    /// Kills the server and starts it again.
    Kill,
    /// Stops the server's processes for a number of seconds.
    Stop,
    /// Shuts the server down and starts it again.
    Restart,
    /// Opens many connections at the same time.
    Connections,
    /// Leaves a transaction open for a time.
    IdleTransaction,
    /// Makes the server's disk slower for a time.
    DiskLatency,
}

/// How an event ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOutcome {
    /// The event ended by itself.
    Done,
    /// The event had not ended at the end of the step, so Dyno ended it.
    Cut,
    Failed,
    /// The trial ended before the event was due.
    #[default]
    NotBegun,
}

/// The number of the workload's events that ended in each bin. A bin is a short interval of the measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Length of a bin, in seconds.
    pub bin_seconds: f64,
    pub bins: Vec<u32>,
}

impl EventKind {
    const ALL: [Self; 8] = [
        Self::Sql,
        Self::Command,
        Self::Kill,
        Self::Stop,
        Self::Restart,
        Self::Connections,
        Self::IdleTransaction,
        Self::DiskLatency,
    ];

    /// Returns the word for the kind of event in the results file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Command => "command",
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Connections => "connections",
            Self::IdleTransaction => "idle_transaction",
            Self::DiskLatency => "disk_latency",
        }
    }
}

impl EventOutcome {
    const ALL: [Self; 4] = [Self::Done, Self::Cut, Self::Failed, Self::NotBegun];

    /// Returns the word for the outcome of an event in the results file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cut => "cut",
            Self::Failed => "failed",
            Self::NotBegun => "not_begun",
        }
    }
}

impl StepEventRecord {
    /// Time from the event's beginning to its end, in seconds; `None` if it did not begin.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.ended_seconds? - self.began_seconds?)
    }
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    trial: TrialId,
    record: &TrialRecord,
) -> rusqlite::Result<()> {
    for (number, event) in (0_u32..).zip(&record.step_events) {
        transaction.execute(
            "INSERT INTO step_event (trial_id, number, id, kind, what, at_seconds, began_seconds, ended_seconds,
                                     outcome, error)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                trial.0,
                number,
                event.id,
                event.kind.as_str(),
                event.what,
                event.at_seconds,
                event.began_seconds,
                event.ended_seconds,
                event.outcome.as_str(),
                event.error,
            ],
        )?;
    }
    if let Some(timeline) = &record.timeline {
        let bins: Vec<u8> = timeline.bins.iter().flat_map(|bin| bin.to_le_bytes()).collect();
        transaction.execute(
            "INSERT INTO timeline (trial_id, bin_seconds, bins) VALUES (?1, ?2, ?3)",
            params![trial.0, timeline.bin_seconds, bins],
        )?;
    }
    Ok(())
}

impl Store {
    /// The events of a run, by trial.
    pub(crate) fn step_events(&self, run: RunId) -> Result<HashMap<i64, Vec<StepEventRecord>>, StoreError> {
        self.by_trial(
            "SELECT e.* FROM step_event e JOIN trial ON trial.id = e.trial_id WHERE run_id = ?1
             ORDER BY e.trial_id, e.number",
            run,
            event_record,
        )
    }

    /// The timelines of a run, by trial.
    pub(crate) fn timelines(&self, run: RunId) -> Result<HashMap<i64, Timeline>, StoreError> {
        let timelines = self.rows(
            "SELECT trial_id, bin_seconds, bins FROM timeline JOIN trial ON trial.id = trial_id WHERE run_id = ?1",
            [run.0],
            |row| {
                let bytes: Vec<u8> = row.get(2)?;
                let (bins, _) = bytes.as_chunks::<4>();
                let bins = bins.iter().map(|bin| u32::from_le_bytes(*bin)).collect();
                Ok((row.get(0)?, Timeline { bin_seconds: row.get(1)?, bins }))
            },
        )?;
        Ok(timelines.into_iter().collect())
    }
}

fn event_record(row: &Row<'_>) -> rusqlite::Result<StepEventRecord> {
    Ok(StepEventRecord {
        id: row.get("id")?,
        kind: word(row, "kind", &EventKind::ALL, EventKind::as_str)?,
        what: row.get("what")?,
        at_seconds: row.get("at_seconds")?,
        began_seconds: row.get("began_seconds")?,
        ended_seconds: row.get("ended_seconds")?,
        outcome: word(row, "outcome", &EventOutcome::ALL, EventOutcome::as_str)?,
        error: row.get("error")?,
    })
}

/// Reads a word from a column and returns the value that the word stands for.
fn word<T: Copy>(
    row: &Row<'_>,
    column: &str,
    all: &[T],
    as_str: fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    let found: String = row.get(column)?;
    let known = all.iter().copied().find(|value| as_str(*value) == found);
    known.ok_or_else(|| unfit(row, column, format!("`{found}` is not a {column} of an event")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunChoice;
    use crate::sample::{File, trial};

    #[test]
    fn events_and_the_timeline_come_back_with_their_trial_and_go_with_its_run() {
        let mut file = File::new();
        let all = EventKind::ALL.iter().zip(EventOutcome::ALL.iter().cycle());
        let event = |(kind, outcome): (&EventKind, &EventOutcome)| StepEventRecord {
            id: kind.as_str().to_owned(),
            kind: *kind,
            what: "ALTER TABLE t".to_owned(),
            at_seconds: 2.0,
            began_seconds: (*outcome != EventOutcome::NotBegun).then_some(2.001),
            ended_seconds: (*outcome != EventOutcome::NotBegun).then_some(3.5),
            outcome: *outcome,
            error: (*outcome == EventOutcome::Failed).then(|| "refused".to_owned()),
        };
        let events: Vec<StepEventRecord> = all.map(event).collect();
        let timeline = Timeline { bin_seconds: 0.01, bins: vec![0, 7, u32::MAX] };
        let record = TrialRecord {
            step_events: events.clone(),
            timeline: Some(timeline.clone()),
            ..trial("old", 0, 1000)
        };
        file.store.commit_trial(file.run, &record).unwrap();
        file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
        let run = file.store.load_run(RunChoice::Latest).unwrap();
        let kept: Vec<_> =
            run.trials.iter().map(|it| (it.record.step_events.clone(), it.record.timeline.clone())).collect();
        assert_eq!(kept, [(events, Some(timeline)), (Vec::new(), None)]);
        file.store.finish_run(file.run, crate::Ending::Finished, 0).unwrap();
        file.store.delete_run(file.run).unwrap();
        assert_eq!(file.sql::<i64>("SELECT (SELECT count(*) FROM step_event) + count(*) FROM timeline"), [0]);
    }
}
