//! Bytes on disk after each group of steps.

use dyno_store::{Run, TrialRecord};

use crate::model::DiskRow;

/// A row for each group, in run order. Empty if no trial recorded its disk space.
pub(crate) fn disk_rows(run: &Run) -> Vec<DiskRow> {
    let mut groups: Vec<&str> = Vec::new();
    for step in &run.steps {
        if !groups.contains(&step.group.as_str()) {
            groups.push(&step.group);
        }
    }
    let row = |group: &str| DiskRow {
        group: group.to_owned(),
        bytes: run.systems.iter().map(|system| bytes_after(run, group, &system.id)).collect(),
    };
    let rows: Vec<DiskRow> = groups.into_iter().map(row).collect();
    if rows.iter().any(|row| row.bytes.iter().any(Option::is_some)) { rows } else { Vec::new() }
}

/// Disk space after a system's last trial in a group.
fn bytes_after(run: &Run, group: &str, system: &str) -> Option<u64> {
    let is_in_group =
        |trial: &TrialRecord| run.steps.iter().any(|step| step.id == trial.step_id && step.group == group);
    // Trials are in order of execution.
    let trials = run.trials.iter().rev().map(|trial| &trial.record);
    trials
        .filter(|trial| trial.system_id == system && is_in_group(trial))
        .find_map(|trial| trial.disk_bytes_after)
}
