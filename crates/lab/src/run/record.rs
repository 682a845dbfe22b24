//! A plan and its surroundings as records of the results file.

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_store::{RunRecord, StepRecord, SystemRecord};
use serde_json::json;

use super::RunOptions;
use crate::plan::{Command, Plan};

/// Milliseconds since 1970 UTC.
pub(crate) fn now_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn run(plan: &Plan, options: &RunOptions<'_>) -> RunRecord {
    RunRecord {
        plan_name: plan.name.clone(),
        plan_title: plan.title.clone(),
        plan_text: plan.text.clone(),
        dyno_version: options.dyno_version.clone(),
        seed: options.seed,
        scale: 1.0,
        started_at_ms: now_ms(),
        host: json!(dyno_host::facts()),
        command_line: options.command_line.clone(),
        claims: Vec::new(),
    }
}

/// A system before its server told anything about itself.
pub(crate) fn system(plan: &Plan, position: usize) -> SystemRecord {
    let system = &plan.systems[position];
    SystemRecord {
        id: system.id.clone(),
        name: system.engine.to_string(),
        engine_version: None,
        position: position as u32,
        is_base: position == plan.base,
        requested_settings: json!(system.settings),
        ..SystemRecord::default()
    }
}

pub(crate) fn step(plan: &Plan, position: usize) -> StepRecord {
    let step = &plan.steps[position];
    let timed = step.command == Command::Run;
    StepRecord {
        id: step.id.clone(),
        group: step.group.clone(),
        position: position as u32,
        workload: step.script.name.clone(),
        command: step.command.as_str().to_owned(),
        operation: step.operation,
        clients: step.clients.clone(),
        trials: plan.trials,
        seconds: timed.then_some(step.seconds),
        warmup_seconds: if timed { step.warmup_seconds } else { 0.0 },
        options: json!(plan.options(step)),
        ..StepRecord::default()
    }
}
