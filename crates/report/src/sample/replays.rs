//! A sample run that replays traffic.

use std::collections::BTreeMap;

use dyno_store::{DigestRecord, LatenessRecord, ReplayRecord, Run, latency_record};

use super::run_of;

/// Two systems in eight rounds. On the second system, digest `b` takes twice as long and has other answers.
pub(crate) fn replayed_run() -> Run {
    let mut run = run_of(1, 2, 8, &[4]);
    run.systems.truncate(2);
    let ids: Vec<String> = run.systems.iter().map(|system| system.id.clone()).collect();
    run.trials.retain(|trial| ids.contains(&trial.record.system_id));
    run.instances.retain(|instance| ids.contains(&instance.system_id));
    run.steps.truncate(1);
    "mine".clone_into(&mut run.steps[0].id);
    let step = run.trials[0].record.step_id.clone();
    run.trials.retain(|trial| trial.record.step_id == step);
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let is_second = record.system_id == ids[1];
        let noise = u64::from(record.round * 3 % 5);
        "mine".clone_into(&mut record.step_id);
        record.slices.clear();
        record.replay = Some(ReplayRecord {
            sessions: 4,
            sessions_lost: u64::from(is_second),
            out_of_order: u64::from(is_second),
            late: Some(LatenessRecord { p50_us: 20.0, p99_us: 300.0, max_us: 900.0 }),
            ..ReplayRecord::default()
        });
        let times = if is_second { 2 } else { 1 };
        record.replayed = vec![digest("a", 10_000 + noise, 1), digest("b", times * 500 + noise, times)];
    }
    run
}

fn digest(name: &str, latency_us: u64, answers: u64) -> DigestRecord {
    DigestRecord {
        digest: name.to_owned(),
        statement: format!("SELECT {name} FROM t WHERE id = ?"),
        kind: "read".to_owned(),
        statements: 10,
        rows: 10,
        rows_affected: 0,
        rows_examined: (name == "b").then_some(latency_us),
        error_codes: BTreeMap::new(),
        answers: Some(answers),
        latency: latency_record([latency_us; 10]),
    }
}
