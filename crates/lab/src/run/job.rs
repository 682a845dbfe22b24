//! What the load process is told for a trial.

use std::collections::BTreeMap;

use dyno_load::{Job, Target};

use crate::plan::{Beside, Command, Plan, System};
use crate::schedule::Trial;

impl Plan {
    /// A workload's options: the data set's, and over them its own.
    pub(crate) fn options(&self, own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut options = BTreeMap::new();
        if let Some(data) = self.data {
            options.insert("tables".to_owned(), data.tables.to_string());
            options.insert("table_size".to_owned(), data.rows.to_string());
        }
        options.extend(own.clone());
        options
    }
}

/// The job of a trial; for a load, the one that fills the tables.
pub(crate) fn job(plan: &Plan, trial: &Trial, target: Target) -> Job {
    let step = &plan.steps[trial.step];
    let timed = step.command == Command::Run;
    Job {
        options: options(plan, &plan.systems[trial.system], &step.options),
        connections: trial.clients,
        warmup_seconds: if timed { step.warmup_seconds } else { 0.0 },
        seconds: timed.then_some(step.seconds),
        rate: step.rate.clone(),
        seed: trial.seed,
        ..Job::new(target, step.script.clone(), step.command.as_str())
    }
}

/// The job that loads a step's tables for other trials, as fast as this host can.
pub(crate) fn reload(plan: &Plan, system: &System, step: usize, seed: u64, target: Target) -> Job {
    let step = &plan.steps[step];
    Job {
        options: options(plan, system, &step.options),
        connections: step.clients.iter().copied().max().unwrap_or(1),
        seed,
        ..Job::new(target, step.script.clone(), Command::Prepare.as_str())
    }
}

/// The job of a workload beside a trial's own: it goes on until it is ended.
pub(crate) fn beside(plan: &Plan, trial: &Trial, beside: &Beside, target: Target) -> Job {
    Job {
        options: options(plan, &plan.systems[trial.system], &beside.options),
        connections: beside.clients,
        // Another stream of random numbers than the workload's beside which it runs.
        seed: !trial.seed,
        ..Job::new(target, beside.script.clone(), Command::Run.as_str())
    }
}

/// The job that clears away what an earlier load left.
pub(crate) fn cleanup(job: &Job) -> Job {
    Job { command: "cleanup".to_owned(), connections: 1, ..job.clone() }
}

/// A workload's options for a system: those of the data set, over them its own, and what keeps the tables.
pub(crate) fn options(
    plan: &Plan,
    system: &System,
    own: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut options = plan.options(own);
    if let Some(storage_engine) = system.source.storage_engine() {
        options.entry("mysql_storage_engine".to_owned()).or_insert_with(|| storage_engine.to_owned());
    }
    options
}
