//! A run with an event: a table is altered while the load continues.

use dyno_store::{
    EventKind, EventOutcome, Operation, Phase, Run, SecondRate, StepEventRecord, Timeline, TrialRecord,
};

use super::run_of;

const STEP: &str = "ddl";
/// Length of a system's outage in bins of a hundredth of a second. The outage begins after 3 s.
fn outage_bins(system: &str) -> usize {
    if system == "maria" { 50 } else { 100 }
}

/// Two systems in six rounds. A table is altered after 3 s. Then no transaction ends for a second, or on `maria`
/// for half a second. [`checks`](super::checks) has the rates of each second.
pub(crate) fn disrupted_run() -> Run {
    let mut run = run_of(1, 2, 6, &[64]);
    run.systems.truncate(2);
    run.trials.retain(|trial| trial.record.system_id != "myrocks");
    run.instances.retain(|instance| instance.system_id != "myrocks");
    STEP.clone_into(&mut run.steps[0].id);
    STEP.clone_into(&mut run.steps[0].group);
    run.steps[0].operation = Operation::Transaction;
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        STEP.clone_into(&mut record.step_id);
        record.slices.clear();
        record.step_events = vec![StepEventRecord {
            id: "alter".to_owned(),
            kind: EventKind::Sql,
            what: "ALTER TABLE sbtest1 ADD INDEX k2 (c(20))".to_owned(),
            at_seconds: 3.0,
            began_seconds: Some(3.0),
            ended_seconds: Some(4.5),
            outcome: EventOutcome::Done,
            error: None,
        }];
        let outage = 300..300 + outage_bins(&record.system_id);
        let bins = (0..1000).map(|bin| if outage.contains(&bin) { 0 } else { 10 });
        record.timeline = Some(Timeline { bin_seconds: 0.01, bins: bins.collect() });
    }
    run
}

/// The rates by second of a trial of [`disrupted_run`]. Empty for trials of other runs.
pub(super) fn course(trial: &TrialRecord) -> Vec<SecondRate> {
    if trial.step_id != STEP {
        return Vec::new();
    }
    let lacking = 10 * outage_bins(&trial.system_id) as u64;
    let second = |number: u32| {
        let operations = if number == 3 { 1000 - lacking } else { 1000 };
        SecondRate {
            phase: Phase::Measure,
            seconds: 1.0,
            operations,
            events: operations,
            due: None,
            failed: if number == 3 { 2 } else { 0 },
            p99_us: Some(if number == 4 { 80_000.0 } else { 5000.0 }),
        }
    };
    (0..10).map(second).collect()
}
