//! Converts rows to records of runs, systems, steps and trials.

use std::collections::HashSet;

use rusqlite::Row;

use crate::file::columns::{json, optional_json, unfit};
use crate::file::owner;
use crate::record::trial::capacity::CapacityRecord;
use crate::record::trial::columns::{CountsRecord, Memory, Neighbours, Usage};
use crate::record::trial::latency::latency_of;
use crate::record::{
    CLIENT_COUNTS_MAX, ClaimRecord, Correction, FailureKind, GapsRecord, InstanceRecord, LadderRecord,
    Measured, NAME_BYTES_MAX, Operation, Origin, Outcome, Phase, ResumptionRecord, RunRecord, SampleRecord,
    SliceRecord, StepRecord, SystemRecord, TrialRecord,
};
use crate::run::{Ending, RunState};

pub(super) fn run_record(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        plan_name: name(row, "plan_name")?,
        plan_title: row.get("plan_title")?,
        plan_text: row.get("plan_text")?,
        dyno_version: row.get("dyno_version")?,
        seed: row.get::<_, i64>("seed")?.cast_unsigned(),
        scale: row.get("scale")?,
        started_at_ms: row.get("started_at_ms")?,
        host: json(row, "host")?,
        command_line: row.get("command_line")?,
        claims: Vec::new(),
        rounds: row.get("rounds")?,
        looks: row.get("looks")?,
        correction: match row.get_ref("correction")?.as_str()? {
            "holm" => Correction::Holm,
            "fdr" => Correction::Fdr,
            "none" => Correction::None,
            _ => Correction::MaxT,
        },
        counts_disturbed: row.get("counts_disturbed")?,
        ladders: ladders(row)?,
        counters: json(row, "counters")?,
        spread_id: row.get("spread_id")?,
        search: optional_json(row, "search")?,
    })
}

/// Reads ladders. Fails if two ladders have the same id, or if a ladder has a system twice. Reports rely on distinct
/// ids and systems when they compare each system of a ladder with the previous one.
fn ladders(row: &Row<'_>) -> rusqlite::Result<Vec<LadderRecord>> {
    let ladders: Vec<LadderRecord> = json(row, "ladders")?;
    let mut ids = HashSet::new();
    for ladder in &ladders {
        let mut systems = HashSet::new();
        if !ids.insert(&ladder.id) || !ladder.systems.iter().all(|id| systems.insert(id)) {
            return Err(unfit(row, "ladders", "a ladder or one of its systems is there twice"));
        }
    }
    Ok(ladders)
}

pub(super) fn instance_record(row: &Row<'_>) -> rusqlite::Result<InstanceRecord> {
    Ok(InstanceRecord {
        system_id: row.get("system_id")?,
        round: row.get("round")?,
        started_at_ms: row.get("started_at_ms")?,
        is_fresh: row.get("is_fresh")?,
        start_seconds: row.get("start_seconds")?,
        warm_seconds: row.get("warm_seconds")?,
        settle_seconds: row.get("settle_seconds")?,
    })
}

pub(super) fn claim_record(row: &Row<'_>) -> rusqlite::Result<ClaimRecord> {
    Ok(ClaimRecord {
        id: row.get("id")?,
        expression: row.get("expression")?,
        says: row.get("says")?,
        published: row.get("published")?,
        source: row.get("source")?,
    })
}

pub(super) fn resumption_record(row: &Row<'_>) -> rusqlite::Result<ResumptionRecord> {
    Ok(ResumptionRecord {
        resumed_at_ms: row.get("resumed_at_ms")?,
        host: json(row, "host")?,
        differences: json(row, "differences")?,
    })
}

pub(super) fn run_state(row: &Row<'_>) -> rusqlite::Result<RunState> {
    Ok(match row.get::<_, String>("status")?.as_str() {
        "finished" => RunState::Ended(Ending::Finished),
        "interrupted" => RunState::Ended(Ending::Interrupted),
        "failed" => RunState::Ended(Ending::Failed),
        _ if owner::is_alive(&row.get::<_, String>("owner")?) => RunState::Running,
        _ => RunState::Killed,
    })
}

pub(super) fn system_record(row: &Row<'_>) -> rusqlite::Result<SystemRecord> {
    Ok(SystemRecord {
        id: name(row, "id")?,
        name: row.get("name")?,
        engine_version: row.get("engine_version")?,
        position: row.get("position")?,
        is_base: row.get("is_base")?,
        is_anchor: row.get("is_anchor")?,
        requested_settings: json(row, "requested_settings")?,
        variables: Vec::new(),
        origin: match row.get::<_, String>("origin")?.as_str() {
            "basedir" => Origin::Basedir,
            "image" => Origin::Image,
            "dsn" => Origin::Dsn,
            _ => Origin::Catalogue,
        },
        control_of: row.get("control_of")?,
        profile: row.get("profile")?,
        confinement: optional_json(row, "confinement")?,
        dollars_per_hour: row.get("dollars_per_hour")?,
        price: optional_json(row, "price")?,
        encryption: row.get("encryption")?,
        image: row.get("image")?,
        configuration: optional_json(row, "configuration")?,
    })
}

pub(super) fn step_record(row: &Row<'_>) -> rusqlite::Result<StepRecord> {
    Ok(StepRecord {
        id: name(row, "id")?,
        group: name(row, "group_name")?,
        position: row.get("position")?,
        workload: row.get("workload")?,
        command: row.get("command")?,
        operation: match row.get::<_, String>("operation")?.as_str() {
            "query" => Operation::Query,
            "row" => Operation::Row,
            _ => Operation::Transaction,
        },
        clients: client_counts(row)?,
        rounds: row.get("rounds")?,
        seconds: row.get("seconds")?,
        warmup_seconds: row.get("warmup_seconds")?,
        options: json(row, "options")?,
        rate: row.get("rate")?,
        find: optional_json(row, "find")?,
        background_of: row.get("background_of")?,
        repeats: row.get("repeats")?,
        joins: json(row, "joins")?,
        not_for: json(row, "not_for")?,
    })
}

fn name(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    let name: String = row.get(column)?;
    if name.len() > NAME_BYTES_MAX {
        let problem = format!("a name has {} bytes, more than {NAME_BYTES_MAX}", name.len());
        return Err(unfit(row, column, problem));
    }
    Ok(name)
}

fn client_counts(row: &Row<'_>) -> rusqlite::Result<Vec<u32>> {
    let counts: Vec<u32> = json(row, "clients")?;
    if counts.len() > CLIENT_COUNTS_MAX {
        let problem = format!("a step has {} client counts, more than {CLIENT_COUNTS_MAX}", counts.len());
        return Err(unfit(row, "clients", problem));
    }
    Ok(counts)
}

pub(super) fn trial_record(row: &Row<'_>) -> rusqlite::Result<TrialRecord> {
    let outcome = match row.get::<_, Option<String>>("message")? {
        None => Outcome::Completed,
        Some(message) => {
            let kind = match row.get_ref("failure")?.as_str_or_null()? {
                Some("start") => FailureKind::Start,
                _ => FailureKind::Trial,
            };
            let log_tail = row.get::<_, Option<_>>("log_tail")?.unwrap_or_default();
            Outcome::Failed { kind, message, log_tail }
        }
    };
    let was_measured = row.get::<_, Option<f64>>("seconds")?.is_some();
    Ok(TrialRecord {
        system_id: row.get("system_id")?,
        step_id: row.get("step_id")?,
        clients: row.get("clients")?,
        round: row.get("round")?,
        position: row.get("position")?,
        started_at_ms: row.get("started_at_ms")?,
        outcome,
        measured: was_measured.then(|| measured(row)).transpose()?,
        usage: Usage::from_row(row)?,
        memory: Memory::from_row(row)?,
        neighbours: Neighbours::from_row(row)?,
        rest_cpu_us: row.get("rest_cpu_us")?,
        thaw_us: row.get("thaw_us")?,
        lead_seconds: row.get("lead_seconds")?,
        slices: Vec::new(),
        warmup_seconds: row.get("warmup_seconds")?,
        disk_bytes_after: row.get("disk_bytes_after")?,
        backlog: row.get("backlog")?,
        unfinished: row.get("unfinished")?,
        latency_censored: row.get("latency_censored")?,
        gaps: gaps(row)?,
        capacity: capacity(row)?,
        probes: optional_json(row, "probes")?.unwrap_or_default(),
        drivers: optional_json(row, "drivers")?.unwrap_or_default(),
        error_codes: json(row, "error_codes")?,
        step_events: Vec::new(),
        timeline: None,
        replicas: Vec::new(),
        loaded_again: json(row, "loaded_again")?,
        limits: optional_json(row, "limits")?,
        drain: optional_json(row, "drain")?,
        replay: optional_json(row, "replay")?,
        replayed: Vec::new(),
        stacks: None,
        query_plan: None,
        query_answer: None,
        statement_plans: Vec::new(),
        counters: Vec::new(),
        samples: Vec::new(),
    })
}

fn capacity(row: &Row<'_>) -> rusqlite::Result<Option<CapacityRecord>> {
    let Some(per_second) = row.get("capacity_per_second")? else { return Ok(None) };
    Ok(Some(CapacityRecord {
        per_second,
        low_per_second: row.get("capacity_low_per_second")?,
        high_per_second: row.get("capacity_high_per_second")?,
    }))
}

fn gaps(row: &Row<'_>) -> rusqlite::Result<Option<GapsRecord>> {
    let Some(longest_seconds) = row.get("gap_longest_seconds")? else { return Ok(None) };
    Ok(Some(GapsRecord {
        longest_seconds,
        longest_began_seconds: row.get("gap_longest_began_seconds")?,
        last_seconds: row.get("gap_last_seconds")?,
    }))
}

pub(super) fn slice_record(row: &Row<'_>) -> rusqlite::Result<SliceRecord> {
    Ok(SliceRecord {
        cycle: row.get("cycle")?,
        started_us: row.get("started_us")?,
        seconds: row.get("seconds")?,
        operations: row.get("operations")?,
    })
}

pub(super) fn sample_record(row: &Row<'_>) -> rusqlite::Result<SampleRecord> {
    Ok(SampleRecord {
        number: row.get("number")?,
        phase: if row.get::<_, String>("phase")? == "warmup" { Phase::Warmup } else { Phase::Measure },
        measured: measured(row)?,
        usage: Usage::from_row(row)?,
    })
}

fn measured(row: &Row<'_>) -> rusqlite::Result<Measured> {
    Ok(Measured {
        seconds: row.get("seconds")?,
        counts: CountsRecord::from_row(row)?,
        due: row.get("due")?,
        latency: latency_of(row)?,
    })
}
