//! `dyno results show`: describes one run.

use std::fmt::Write as _;

use clap::Args;
use dyno_printable::printable;
use dyno_store::{Outcome, Run, RunChoice, RunId, StepRecord, Store, SystemRecord};
use serde_json::json;

use super::words;
use crate::options::{ResultsFile, TextOrJson, run_id};
use crate::output;

/// Show the origin, systems, steps and failures of a run; `dyno report` shows its figures
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno results show 3")]
pub(super) struct Show {
    /// The run's number; by default the latest run
    #[arg(value_parser = run_id)]
    run: Option<RunId>,
    #[command(flatten)]
    results: ResultsFile,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

/// Counts of the trials of a step, by outcome.
#[derive(Default)]
struct Trials {
    completed: usize,
    failed: usize,
}

impl Show {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let choice = RunChoice::from(self.run);
        let store = Store::open_read_only(&self.results.path)?;
        let run = store.load_run(choice)?;
        let bytes = store.run_bytes(run.id)?;
        match self.format {
            TextOrJson::Json => output::print(&output::json(&object(&run, bytes).to_string())),
            TextOrJson::Text => output::print(&text(&run, bytes)),
        }
    }
}

/// Trials of a system that failed with the same message.
struct Failure<'a> {
    system: &'a str,
    message: &'a str,
    /// The end of the log of the first failed trial.
    log_tail: &'a str,
    trials: usize,
}

/// Failures, in order of first occurrence.
fn failures(run: &Run) -> Vec<Failure<'_>> {
    let mut failures: Vec<Failure<'_>> = Vec::new();
    for record in run.trials.iter().map(|trial| &trial.record) {
        let Outcome::Failed { message, log_tail, .. } = &record.outcome else { continue };
        let alike = |failure: &&mut Failure<'_>| {
            failure.system == record.system_id && failure.message == message.as_str()
        };
        match failures.iter_mut().find(alike) {
            Some(failure) => failure.trials += 1,
            None => failures.push(Failure { system: &record.system_id, message, log_tail, trials: 1 }),
        }
    }
    failures
}

/// Counts the trials of a step.
fn trials(run: &Run, step: &StepRecord) -> Trials {
    let mut trials = Trials::default();
    for trial in run.trials.iter().filter(|trial| trial.record.step_id == step.id) {
        match trial.record.outcome {
            Outcome::Completed => trials.completed += 1,
            Outcome::Failed { .. } => trials.failed += 1,
        }
    }
    trials
}

fn object(run: &Run, bytes: u64) -> serde_json::Value {
    let system = |system: &SystemRecord| {
        json!({
            "id": system.id,
            "name": system.name,
            "engine_version": system.engine_version,
            "encryption": system.encryption,
            "image": system.image,
            "configuration": system.configuration,
            "is_base": system.is_base,
            "is_anchor": system.is_anchor,
            "origin": system.origin.as_str(),
            "control_of": system.control_of,
            "profile": system.profile,
            "requested_settings": system.requested_settings,
            "confinement": system.confinement,
            "dollars_per_hour": system.dollars_per_hour,
            "price": system.price,
            "dollars_per_year": system.dollars_per_year(),
        })
    };
    let step = |step: &StepRecord| {
        let Trials { completed, failed } = trials(run, step);
        json!({
            "id": step.id,
            "group": step.group,
            "workload": step.workload,
            "command": step.command,
            "operation": step.operation.as_str(),
            "clients": step.clients,
            "rounds": step.rounds,
            "seconds": step.seconds,
            "rate": step.rate,
            "find": step.find,
            "background_of": step.background_of,
            "joins": step.joins,
            "not_for": step.not_for,
            "completed_trials": completed,
            "failed_trials": failed,
        })
    };
    let record = &run.record;
    json!({
        "run": run.id.0,
        "plan": record.plan_name,
        "title": record.plan_title,
        "state": run.state.as_str(),
        "started_at_ms": record.started_at_ms,
        "finished_at_ms": run.finished_at_ms,
        "resumed_at_ms": run.resumptions.iter().map(|resumption| resumption.resumed_at_ms).collect::<Vec<_>>(),
        "dyno_version": record.dyno_version,
        "command_line": record.command_line,
        "seed": record.seed,
        "scale": record.scale,
        "host": record.host,
        "bytes": bytes,
        "systems": run.systems.iter().map(system).collect::<Vec<_>>(),
        "steps": run.steps.iter().map(step).collect::<Vec<_>>(),
        "failures": failures(run)
            .iter()
            .map(|Failure { system, message, log_tail, trials }| {
                json!({ "system": system, "message": message, "log_tail": log_tail, "trials": trials })
            })
            .collect::<Vec<_>>(),
    })
}

fn text(run: &Run, bytes: u64) -> String {
    let record = &run.record;
    let mut text =
        format!("run {}: {} ({})\n\n", run.id, printable(&record.plan_title), printable(&record.plan_name));
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:9} {}", printable(value));
    };
    line("state", run.state.as_str());
    line("started", &words::moment(record.started_at_ms));
    for resumption in &run.resumptions {
        line("resumed", &words::moment(resumption.resumed_at_ms));
    }
    if let Some(ms) = run.finished_at_ms {
        line("finished", &words::moment(ms));
    }
    line("command", &record.command_line);
    line("seed", &record.seed.to_string());
    line("scale", &record.scale.to_string());
    line("dyno", &record.dyno_version);
    line("size", &words::bytes(bytes));
    if !run.superseded.is_empty() {
        line("disturbed", &format!("{} run again; the later ones count", run.superseded.len()));
    }
    for (name, fact) in record.host.facts() {
        if let Some(fact) = fact {
            let _ = writeln!(text, "host      {name}: {}", printable(&fact));
        }
    }
    let _ = write!(text, "\n{}\n\n{}\n", systems(run), steps(run));
    for Failure { system, message, log_tail, trials } in failures(run) {
        let noun = if trials == 1 { "trial" } else { "trials" };
        let _ = writeln!(text, "\n{} {} ({trials} {noun})", printable(system), printable(message));
        log_tail.lines().for_each(|line| text.extend(["    ", line, "\n"]));
    }
    text
}

fn systems(run: &Run) -> String {
    let row = |system: &SystemRecord| {
        let role = match (&system.control_of, system.is_base, system.is_anchor) {
            (_, true, true) => "base, anchor".to_owned(),
            (_, true, false) => "base".to_owned(),
            (Some(control), ..) => format!("repeats {control}"),
            (None, false, true) => "anchor".to_owned(),
            (None, false, false) => String::new(),
        };
        let version = system.engine_version.clone().unwrap_or_default();
        vec![system.id.clone(), system.name.clone(), version, system.origin.as_str().to_owned(), role]
    };
    words::table(&["system", "engine", "version", "origin", ""], run.systems.iter().map(row), &[])
}

fn steps(run: &Run) -> String {
    let row = |step: &StepRecord| {
        let clients: Vec<_> = step.clients.iter().map(ToString::to_string).collect();
        let Trials { completed, failed } = trials(run, step);
        vec![
            step.id.clone(),
            step.group.clone(),
            format!("{} {}", step.workload, step.command),
            clients.join(", "),
            (completed + failed).to_string(),
            failed.to_string(),
        ]
    };
    let header = ["step", "group", "workload", "clients", "trials", "failed"];
    words::table(&header, run.steps.iter().map(row), &[4, 5])
}
