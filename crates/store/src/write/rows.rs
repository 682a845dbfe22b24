//! Inserts rows of runs, systems, steps and trials.

use rusqlite::{Transaction, params};

use crate::file::owner;
use crate::file::row::Row;
use crate::record::trial::columns::{CountsRecord, Memory, Neighbours, Usage};
use crate::record::trial::{counters, event, latency, queries, replay, replica, stacks, statement_plans};
use crate::record::{
    ClaimRecord, Measured, Outcome, Phase, RunId, RunRecord, SampleRecord, SliceRecord, StepRecord,
    SystemRecord, TrialId, TrialRecord,
};

pub(super) fn insert_run(transaction: &Transaction<'_>, run: &RunRecord) -> rusqlite::Result<RunId> {
    let mut row = Row::default();
    row.set("plan_name", run.plan_name.clone());
    row.set("plan_title", run.plan_title.clone());
    row.set("plan_text", run.plan_text.clone());
    row.set("dyno_version", run.dyno_version.clone());
    row.set("seed", run.seed.cast_signed());
    row.set("scale", run.scale);
    row.set("command_line", run.command_line.clone());
    row.set("host", serde_json::json!(run.host).to_string());
    row.set("rounds", run.rounds);
    row.set("looks", run.looks);
    row.set("correction", run.correction.as_str().to_owned());
    row.set("counts_disturbed", run.counts_disturbed);
    row.set("ladders", serde_json::json!(run.ladders).to_string());
    row.set("counters", serde_json::json!(run.counters).to_string());
    row.set("spread_id", run.spread_id.clone());
    row.set("search", run.search.as_ref().map(|search| serde_json::json!(search).to_string()));
    row.set("started_at_ms", run.started_at_ms);
    row.set("status", "running".to_owned());
    row.set("owner", owner::current());
    row.insert(transaction, "run")?;
    let id = RunId(transaction.last_insert_rowid());
    for (position, claim) in run.claims.iter().enumerate() {
        insert_claim(transaction, id, position, claim)?;
    }
    Ok(id)
}

pub(super) fn insert_step(
    transaction: &Transaction<'_>,
    run: RunId,
    step: &StepRecord,
) -> rusqlite::Result<()> {
    let mut row = Row::default();
    row.set("run_id", run.0);
    row.set("id", step.id.clone());
    row.set("group_name", step.group.clone());
    row.set("position", step.position);
    row.set("workload", step.workload.clone());
    row.set("command", step.command.clone());
    row.set("operation", step.operation.as_str().to_owned());
    row.set("clients", serde_json::json!(step.clients).to_string());
    row.set("rounds", step.rounds);
    row.set("seconds", step.seconds);
    row.set("warmup_seconds", step.warmup_seconds);
    row.set("options", step.options.to_string());
    row.set("rate", step.rate.clone());
    row.set("find", step.find.map(|find| serde_json::json!(find).to_string()));
    row.set("background_of", step.background_of.clone());
    row.set("repeats", step.repeats.clone());
    row.set("joins", serde_json::json!(step.joins).to_string());
    row.set("not_for", serde_json::json!(step.not_for).to_string());
    row.insert(transaction, "step")
}

pub(super) fn put_system(
    transaction: &Transaction<'_>,
    run: RunId,
    system: &SystemRecord,
) -> rusqlite::Result<()> {
    // Trials refer to the system's row, so an existing row is updated and not replaced.
    transaction.execute(
        "INSERT INTO system (run_id, id, name, engine_version, position, is_base, is_anchor, requested_settings,
                             origin, control_of, profile, confinement, dollars_per_hour, price, encryption, image,
                             configuration)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
         ON CONFLICT (run_id, id)
         DO UPDATE SET engine_version = excluded.engine_version, encryption = excluded.encryption,
                       image = excluded.image",
        params![
            run.0,
            system.id,
            system.name,
            system.engine_version,
            system.position,
            system.is_base,
            system.is_anchor,
            system.requested_settings.to_string(),
            system.origin.as_str(),
            system.control_of,
            system.profile,
            system.confinement.as_ref().map(ToString::to_string),
            system.dollars_per_hour,
            system.price.as_ref().map(|price| serde_json::json!(price).to_string()),
            system.encryption,
            system.image,
            system.configuration.as_ref().map(|configuration| serde_json::json!(configuration).to_string()),
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

fn insert_claim(
    transaction: &Transaction<'_>,
    run: RunId,
    position: usize,
    claim: &ClaimRecord,
) -> rusqlite::Result<()> {
    let mut row = Row::default();
    row.set("run_id", run.0);
    row.set("position", position as i64);
    row.set("id", claim.id.clone());
    row.set("expression", claim.expression.clone());
    row.set("says", claim.says.clone());
    row.set("published", claim.published);
    row.set("source", claim.source.clone());
    row.insert(transaction, "claim")
}

pub(super) fn insert_whole(
    transaction: &Transaction<'_>,
    run: RunId,
    trial: &TrialRecord,
) -> rusqlite::Result<TrialId> {
    let id = insert_trial(transaction, run, trial)?;
    for slice in &trial.slices {
        insert_slice(transaction, id, slice)?;
    }
    event::insert(transaction, id, trial)?;
    replica::insert(transaction, id, trial)?;
    for sample in &trial.samples {
        insert_sample(transaction, id, sample)?;
    }
    for counter in &trial.counters {
        counters::insert(transaction, id, counter)?;
    }
    if let Some(profile) = &trial.stacks {
        stacks::insert(transaction, id, profile)?;
    }
    queries::insert(transaction, id, trial)?;
    statement_plans::insert(transaction, id, &trial.statement_plans)?;
    replay::insert(transaction, id, &trial.replayed)?;
    Ok(id)
}

fn insert_trial(transaction: &Transaction<'_>, run: RunId, trial: &TrialRecord) -> rusqlite::Result<TrialId> {
    transaction.execute(
        "DELETE FROM trial WHERE run_id = ?1 AND step_id = ?2 AND clients = ?3 AND system_id = ?4 AND round = ?5
                             AND outcome = 'failed' AND NOT is_superseded",
        params![run.0, trial.step_id, trial.clients, trial.system_id, trial.round],
    )?;
    let (outcome, failure, message, log_tail) = match &trial.outcome {
        Outcome::Completed => ("completed", None, None, None),
        Outcome::Failed { kind, message, log_tail } => {
            ("failed", Some(kind.as_str().to_owned()), Some(message.clone()), Some(log_tail.clone()))
        }
    };
    let mut row = Row::default();
    row.set("run_id", run.0);
    row.set("system_id", trial.system_id.clone());
    row.set("step_id", trial.step_id.clone());
    row.set("clients", trial.clients);
    row.set("round", trial.round);
    row.set("position", trial.position);
    row.set("started_at_ms", trial.started_at_ms);
    row.set("outcome", outcome.to_owned());
    row.set("failure", failure);
    row.set("message", message);
    row.set("log_tail", log_tail);
    row.set("rest_cpu_us", trial.rest_cpu_us.map(u64::cast_signed));
    row.set("thaw_us", trial.thaw_us.map(u64::cast_signed));
    row.set("lead_seconds", trial.lead_seconds);
    row.set("warmup_seconds", trial.warmup_seconds);
    row.set("disk_bytes_after", trial.disk_bytes_after.map(u64::cast_signed));
    row.set("backlog", trial.backlog.map(u64::cast_signed));
    row.set("unfinished", trial.unfinished.map(u64::cast_signed));
    row.set("latency_censored", trial.latency_censored.clone());
    row.set("gap_longest_seconds", trial.gaps.map(|gaps| gaps.longest_seconds));
    row.set("gap_longest_began_seconds", trial.gaps.and_then(|gaps| gaps.longest_began_seconds));
    row.set("gap_last_seconds", trial.gaps.map(|gaps| gaps.last_seconds));
    row.set("capacity_per_second", trial.capacity.map(|capacity| capacity.per_second));
    row.set("capacity_low_per_second", trial.capacity.map(|capacity| capacity.low_per_second));
    row.set("capacity_high_per_second", trial.capacity.map(|capacity| capacity.high_per_second));
    let probes = (!trial.probes.is_empty()).then(|| serde_json::json!(trial.probes).to_string());
    row.set("probes", probes);
    let drivers = (!trial.drivers.is_empty()).then(|| serde_json::json!(trial.drivers).to_string());
    row.set("drivers", drivers);
    row.set("error_codes", serde_json::json!(trial.error_codes).to_string());
    row.set("loaded_again", serde_json::json!(trial.loaded_again).to_string());
    row.set("limits", trial.limits.as_ref().map(|limits| serde_json::json!(limits).to_string()));
    row.set("drain", trial.drain.as_ref().map(ToString::to_string));
    row.set("replay", trial.replay.as_ref().map(|replay| serde_json::json!(replay).to_string()));
    if let Some(measured) = &trial.measured {
        set_measured(&mut row, measured);
        row.set("latency", measured.latency.histogram.clone());
    }
    row.set_all(Usage::COLUMNS, trial.usage.values());
    row.set_all(Memory::COLUMNS, trial.memory.values());
    row.set_all(Neighbours::COLUMNS, trial.neighbours.values());
    row.insert(transaction, "trial")?;
    Ok(TrialId(transaction.last_insert_rowid()))
}

fn insert_slice(transaction: &Transaction<'_>, trial: TrialId, slice: &SliceRecord) -> rusqlite::Result<()> {
    let mut row = Row::default();
    row.set("trial_id", trial.0);
    row.set("cycle", slice.cycle);
    row.set("started_us", slice.started_us.cast_signed());
    row.set("seconds", slice.seconds);
    row.set("operations", slice.operations);
    row.insert(transaction, "slice")
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
    set_measured(&mut row, &sample.measured);
    row.set_all(Usage::COLUMNS, sample.usage.values());
    row.insert(transaction, "sample")?;
    let mut row = Row::default();
    row.set("trial_id", trial.0);
    row.set("number", sample.number);
    row.set("latency", sample.measured.latency.histogram.clone());
    row.insert(transaction, "sample_latency")
}

/// Sets all columns except the histogram. For samples, the histogram is in a separate table.
fn set_measured(row: &mut Row, measured: &Measured) {
    row.set("seconds", measured.seconds);
    row.set_all(CountsRecord::COLUMNS, measured.counts.values());
    row.set("due", measured.due.map(u64::cast_signed));
    row.set_all(latency::COLUMNS, latency::figures(&measured.latency));
}
