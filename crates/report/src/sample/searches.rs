//! A run with searches for a capacity.

use dyno_store::{CapacityRecord, FindRecord, ProbeRecord, Run};

/// Three rounds of the sample run, in which the step `read-only` searches for a capacity. In the three rounds,
/// mysql56 finds 1,020, 1,010 and 1,000 events per second. The second system finds twice as many, the third three
/// times as many.
pub(crate) fn searched_run() -> Run {
    let mut run = super::run(3);
    let find = FindRecord { percentile: 99, limit_ms: 5.0, within: 0.05 };
    run.steps[2].find = Some(find);
    let ids: Vec<String> = run.systems.iter().map(|system| system.id.clone()).collect();
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        if record.step_id != run.steps[2].id {
            continue;
        }
        let place = ids.iter().position(|id| *id == record.system_id).expect("a system of the run");
        let per_second = (1_020.0 - 10.0 * f64::from(record.round)) * (1.0 + place as f64);
        record.slices.clear();
        record.capacity = Some(CapacityRecord {
            per_second,
            low_per_second: per_second - 20.0,
            high_per_second: per_second + 20.0,
        });
        record.probes = vec![probe(per_second + 30.0, 7.5), probe(per_second - 30.0, 4.25)];
    }
    run
}

fn probe(rate_per_second: f64, latency_ms: f64) -> ProbeRecord {
    ProbeRecord {
        rate_per_second,
        seconds: 1.0,
        due: rate_per_second as u64,
        latency_ms: Some(latency_ms),
        backlog: 3,
        is_sustained: true,
        keeps_limit: latency_ms < 5.0,
    }
}
