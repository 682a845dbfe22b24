//! What the load process is told for a trial.

use std::collections::BTreeMap;

use dyno_load::{Job, Target};

use crate::plan::{Command, Plan, Step};
use crate::schedule::Trial;

impl Plan {
    /// A step's options: the data set's, and over them its own.
    pub(crate) fn options(&self, step: &Step) -> BTreeMap<String, String> {
        let mut options = BTreeMap::new();
        if let Some(data) = self.data {
            options.insert("tables".to_owned(), data.tables.to_string());
            options.insert("table_size".to_owned(), data.rows.to_string());
        }
        options.extend(step.options.clone());
        options
    }
}

/// The job of a trial; for a load, the one that fills the tables.
pub(crate) fn job(plan: &Plan, trial: &Trial, target: Target) -> Job {
    let step = &plan.steps[trial.step];
    let timed = step.command == Command::Run;
    let mut options = plan.options(step);
    if let Some(storage_engine) = &plan.systems[trial.system].engine.storage_engine {
        options.entry("mysql_storage_engine".to_owned()).or_insert_with(|| storage_engine.clone());
    }
    Job {
        options,
        connections: trial.clients,
        warmup_seconds: if timed { step.warmup_seconds } else { 0.0 },
        seconds: timed.then_some(step.seconds),
        seed: trial.seed,
        ..Job::new(target, step.script.clone(), step.command.as_str())
    }
}

/// The job that clears away what an earlier load left.
pub(crate) fn cleanup(job: &Job) -> Job {
    Job { command: "cleanup".to_owned(), connections: 1, ..job.clone() }
}
