//! A run of systems with replicas.

use dyno_store::{Operation, ReplicaRecord, ReplicationMode, Run};

use super::run_of;

const STEP: &str = "writes";

/// Two systems with two replicas each, in six rounds. The replicas of the second system apply changes with a delay of
/// 3 s.
pub(crate) fn replicated_run() -> Run {
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
        let is_held = record.system_id == "maria";
        record.replicas = (1..=2).map(|number| replica(number, is_held)).collect();
    }
    run
}

fn replica(number: u32, is_held: bool) -> ReplicaRecord {
    let held_ms = if is_held { 3000.0 } else { 0.0 };
    ReplicaRecord {
        number,
        mode: if is_held { ReplicationMode::Asynchronous } else { ReplicationMode::SemiSynchronous },
        delay_seconds: if is_held { 3 } else { 0 },
        tokens: 200,
        lag_p50_ms: Some(held_ms + f64::from(number)),
        lag_p99_ms: Some(held_ms + 4.0 * f64::from(number)),
        lag_max_ms: Some(held_ms + 10.0 * f64::from(number)),
        said_max_seconds: Some(1.0 + held_ms / 1000.0),
        catch_up_seconds: Some(0.25),
        user_cpu_us: Some(1_500_000),
        system_cpu_us: Some(500_000),
        read_bytes: Some(0),
        write_bytes: Some(1 << 20),
    }
}
