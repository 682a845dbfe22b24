//! Reads the runs of a plan from a data set, with only the data that `dyno history` needs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use dyno_store::{
    CapacityRecord, CountsRecord, Ending, LatencyRecord, Measured, Outcome, Run, RunId, RunRecord, RunState,
    StepRecord, SystemRecord, Trial, TrialId, TrialRecord,
};

use super::partition::plan_folder;
use super::records::{Record, records};
use super::tables::MARK;
use crate::error::ExportError;

/// Reads the runs of a plan from a data set in a folder. Returns them in the order of their start times, numbered
/// from 1.
///
/// Only the data that a history needs is read: start, plan, scale, host, systems with their versions and settings,
/// the settings that the anchor's server reported, steps, and the throughput of each trial. Other fields have their
/// defaults.
///
/// # Errors
/// The folder is not a data set, or a file of the plan cannot be read.
pub fn read_history(folder: &Path, plan: &str) -> Result<Vec<Run>, ExportError> {
    let marks = folder.join(MARK);
    if !marks.is_dir() {
        return Err(ExportError::NoDataset { path: folder.to_owned() });
    }
    let mut files = Vec::new();
    collect_files(&marks.join(plan_folder(plan)), &mut files)?;
    let read = |file: PathBuf| {
        let below = file.strip_prefix(&marks).unwrap_or(&file);
        run(&file, &|table| folder.join(table).join(below))
    };
    let mut runs = files.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    runs.sort_by_key(|run| run.record.started_at_ms);
    for (number, run) in (1..).zip(&mut runs) {
        run.id = RunId(number);
    }
    Ok(runs)
}

/// Collects the Parquet files in a folder and in its subfolders. Every file with the extension `.parquet` is complete.
/// The folder need not exist.
fn collect_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), ExportError> {
    let unreadable =
        |error: io::Error| ExportError::Unreadable { path: folder.to_owned(), reason: error.to_string() };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(unreadable)?,
    };
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        // Links are not followed, because they may be circular. Pipes are not opened, because opening one would
        // wait.
        if kind.is_dir() {
            collect_files(&path, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "parquet") {
            found.push(path);
        }
    }
    Ok(())
}

/// Reads a run. `mark` is the file that marks the run as complete. `file_of` returns the path of the run's file for a
/// table. This file may be missing.
fn run(mark: &Path, file_of: &dyn Fn(&str) -> PathBuf) -> Result<Run, ExportError> {
    let columns = ["plan_name", "plan_text", "scale", "started_at_ms", "host_facts"];
    let facts = read(mark, &columns, run_record)?;
    let record = facts.into_iter().next().ok_or_else(|| ExportError::Unreadable {
        path: mark.to_owned(),
        reason: "it has no row".to_owned(),
    })?;
    let systems = ["id", "name", "engine_version", "position", "is_base", "is_anchor", "control_of"];
    let systems = [&systems[..], &["requested_settings", "image", "confinement"]].concat();
    let mut systems = read(&file_of("system"), &systems, system)?;
    systems.sort_by_key(|system| system.position);
    if let Some(anchor) = systems.iter_mut().find(|system| system.is_anchor) {
        let of = |row: &Record| (row.text("system_id"), (row.text("name"), row.text("value")));
        let all = read(&file_of("variable"), &["system_id", "name", "value"], of)?;
        anchor.variables = all
            .into_iter()
            .filter(|(system, _)| *system == anchor.id)
            .map(|(_, variable)| variable)
            .collect();
    }
    let mut steps =
        read(&file_of("step"), &["id", "group_name", "position", "clients", "background_of"], step)?;
    steps.sort_by_key(|step| step.position);
    let columns = ["id", "system_id", "step_id", "clients", "round", "outcome", "seconds", "operations"];
    let columns = [&columns[..], &["is_superseded", "capacity_per_second"]].concat();
    let trials = read(&file_of("trial"), &columns, trial)?;
    Ok(Run {
        systems,
        steps,
        trials: trials.into_iter().flatten().collect(),
        ..Run::new(RunId(0), record, RunState::Ended(Ending::Finished))
    })
}

/// Reads the rows of a file. Returns no rows if the file does not exist, because a table without rows has no file.
fn read<T>(path: &Path, columns: &[&str], row: impl Fn(&Record) -> T) -> Result<Vec<T>, ExportError> {
    let unreadable =
        |error: io::Error| ExportError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file.map_err(unreadable)?,
    };
    Ok(records(path, file, columns)?.iter().map(row).collect())
}

fn run_record(row: &Record) -> RunRecord {
    RunRecord {
        plan_name: row.text("plan_name"),
        plan_text: row.text("plan_text"),
        scale: row.real("scale").unwrap_or(1.0),
        started_at_ms: row.integer("started_at_ms"),
        host: serde_json::from_str(&row.text("host_facts")).unwrap_or_default(),
        ..RunRecord::default()
    }
}

fn system(row: &Record) -> SystemRecord {
    SystemRecord {
        id: row.text("id"),
        name: row.text("name"),
        engine_version: row.optional_text("engine_version"),
        position: row.integer("position") as u32,
        is_base: row.boolean("is_base"),
        is_anchor: row.boolean("is_anchor"),
        control_of: row.optional_text("control_of"),
        requested_settings: serde_json::from_str(&row.text("requested_settings")).unwrap_or_default(),
        image: row.optional_text("image"),
        confinement: row.optional_text("confinement").and_then(|text| serde_json::from_str(&text).ok()),
        ..SystemRecord::default()
    }
}

fn step(row: &Record) -> StepRecord {
    StepRecord {
        id: row.text("id"),
        group: row.text("group_name"),
        position: row.integer("position") as u32,
        clients: serde_json::from_str(&row.text("clients")).unwrap_or_default(),
        background_of: row.optional_text("background_of"),
        ..StepRecord::default()
    }
}

/// Makes a trial from its row. `None` for a trial that was repeated later and therefore does not count.
fn trial(row: &Record) -> Option<Trial> {
    let outcome = match row.text("outcome").as_str() {
        "completed" => Outcome::Completed,
        _ => Outcome::failed(""),
    };
    let measured = row.real("seconds").map(|seconds| {
        let operations = row.integer("operations").unsigned_abs();
        Measured {
            seconds,
            counts: CountsRecord { operations, ..CountsRecord::default() },
            due: None,
            latency: LatencyRecord::default(),
        }
    });
    let record = TrialRecord {
        system_id: row.text("system_id"),
        step_id: row.text("step_id"),
        clients: row.integer("clients") as u32,
        round: row.integer("round") as u32,
        outcome,
        measured,
        capacity: row
            .real("capacity_per_second")
            .map(|per_second| CapacityRecord { per_second, ..CapacityRecord::default() }),
        ..TrialRecord::default()
    };
    (!row.boolean("is_superseded")).then_some(Trial { id: TrialId(row.integer("id")), record })
}
