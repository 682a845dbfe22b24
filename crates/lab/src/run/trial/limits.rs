//! Adds the system's limits, as the kernel reports them, and the CPUs of pinned threads to the record of a trial.
//! Lifts I/O limits during work that is not measured.

use dyno_host::{CpuSet, ReadBack};
use dyno_store::{LimitsRecord, TrialRecord, UnmetLimit};

use crate::run::error::SystemError;
use crate::run::system::{RunningSystem, SystemSlot};

/// Reads a system's limits back from the kernel. The first call, before the load, records all limits. Later calls
/// only add limits that differ from the plan.
pub(crate) fn note_limits(record: &mut TrialRecord, slot: &SystemSlot<'_>) {
    let Some(ReadBack { in_force, differences, not_limited }) =
        slot.system().ok().and_then(RunningSystem::limits)
    else {
        return;
    };
    let limits = record.limits.get_or_insert_with(|| LimitsRecord {
        in_force: serde_json::json!(in_force),
        differences: Vec::new(),
        not_limited: not_limited.iter().map(ToString::to_string).collect(),
    });
    for found in differences {
        let difference = UnmetLimit { limit: found.limit.to_owned(), asked: found.asked, found: found.found };
        if !limits.differences.contains(&difference) {
            limits.differences.push(difference);
        }
    }
}

/// Reads the CPUs of a load process back from the kernel, if the plan limits them. A process that has ended is
/// skipped.
pub(crate) fn note_client_cpus(record: &mut TrialRecord, asked: Option<&CpuSet>, pid: u32) {
    let Some((asked, found)) = asked.zip(CpuSet::of_process(pid)) else { return };
    let limits = note_cpus(record, "client_cpus", &found);
    if found != *asked {
        let (asked, found) = (asked.to_string(), found.to_string());
        limits.differences.push(UnmetLimit { limit: "client_cpus".to_owned(), asked, found });
    }
}

/// Records the CPUs to which the server's busy threads are pinned.
pub(crate) fn note_pinned(record: &mut TrialRecord, cpus: &CpuSet) {
    note_cpus(record, LimitsRecord::PINNED, cpus);
}

fn note_cpus<'a>(record: &'a mut TrialRecord, name: &str, cpus: &CpuSet) -> &'a mut LimitsRecord {
    let limits = record.limits.get_or_insert_default();
    if !limits.in_force.is_object() {
        limits.in_force = serde_json::json!({});
    }
    limits.in_force[name] = serde_json::json!(cpus);
    limits
}

/// Does some work while a system's I/O limits are lifted.
pub(crate) fn without_io_limits<T, E: From<SystemError>>(
    system: &dyn RunningSystem,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    system.limit_io(false)?;
    let done = work();
    let limited = system.limit_io(true);
    let done = done?;
    limited?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_of_a_load_process_are_kept_and_others_than_asked_for_are_a_difference() {
        let found = CpuSet::allowed().expect("this process runs somewhere");
        let elsewhere: CpuSet = "1000".parse().expect("a set of CPUs");
        let noted = |asked: Option<&CpuSet>| {
            let mut record = TrialRecord::default();
            note_client_cpus(&mut record, asked, std::process::id());
            record.limits
        };
        assert_eq!(noted(None), None);
        let in_force = serde_json::json!({ "client_cpus": found.to_string() });
        let as_asked = LimitsRecord { in_force, ..LimitsRecord::default() };
        assert_eq!(noted(Some(&found)), Some(as_asked.clone()));
        let difference = UnmetLimit {
            limit: "client_cpus".to_owned(),
            asked: "1000".to_owned(),
            found: found.to_string(),
        };
        assert_eq!(noted(Some(&elsewhere)), Some(LimitsRecord { differences: vec![difference], ..as_asked }));
    }

    #[test]
    fn a_trial_of_pinned_threads_says_so() {
        let mut record = TrialRecord::default();
        assert!(!record.is_pinned());
        note_pinned(&mut record, &"1".parse().expect("a set of CPUs"));
        assert!(record.is_pinned());
        assert_eq!(record.limits.unwrap().in_force, serde_json::json!({ "pinned_server_threads": "1" }));
    }
}
