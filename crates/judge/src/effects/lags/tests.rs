use std::collections::BTreeMap;

use dyno_store::Run;

use super::*;
use crate::Finding;
use crate::analyse;
use crate::sample::{add_step, run};

fn replica(number: u32, lag_ms: f64) -> ReplicaRecord {
    ReplicaRecord {
        number,
        mode: ReplicationMode::SemiSynchronous,
        delay_seconds: 0,
        tokens: 200,
        lag_p50_ms: Some(lag_ms / 2.0),
        lag_p99_ms: Some(lag_ms),
        lag_max_ms: Some(lag_ms * 2.0),
        said_max_seconds: Some(1.0),
        catch_up_seconds: Some(0.0),
        user_cpu_us: Some(3000),
        system_cpu_us: Some(1000),
        read_bytes: None,
        write_bytes: None,
    }
}

/// A run of three systems: one without replicas, one with replicas, and one whose second replica lags `times` times as
/// much.
fn planted(rounds: usize, times: f64) -> Run {
    let mut run = run(1, &["none", "near", "far"]);
    let rates = ["none", "near", "far"].map(|system| (system, vec![100.0; rounds]));
    add_step(&mut run, "replicas", "writes", 8, &rates);
    for trial in &mut run.trials {
        let record = &mut trial.record;
        let noise = 1.0 + f64::from(record.round * 7 % 5) / 100.0;
        record.replicas = match record.system_id.as_str() {
            "near" => vec![replica(1, 10.0 * noise), replica(2, 8.0)],
            "far" => vec![replica(1, 8.0), replica(2, 10.0 * times * (2.0 - noise))],
            _ => Vec::new(),
        };
    }
    run
}

fn lags(run: &Run) -> Vec<LagTest> {
    analyse(run, &BTreeMap::new(), &Rule::default()).lags
}

#[test]
fn the_replica_that_is_latest_counts_and_later_ones_are_a_regression() {
    let found = lags(&planted(8, 3.0));
    let [test] = &found[..] else { panic!("{found:?}") };
    assert_eq!((test.step.as_str(), test.clients, test.reference.as_str()), ("writes", 8, "near"));
    let [near, far] = &test.systems[..] else { panic!("{test:?}") };
    assert_eq!((near.mode, near.replicas), (ReplicationMode::SemiSynchronous, 2));
    let p99 = |system: &ReplicatedSystem| system.figures[&LagQuantity::LagP99Ms].clone();
    assert!((10.0..10.5).contains(&p99(near).median), "{near:?}");
    assert!(p99(near).against_base.is_none());
    let ratio = p99(far).against_base.unwrap();
    assert_eq!((ratio.finding, ratio.rounds), (Finding::Regressed, 8), "{ratio:?}");
    assert!((2.5..3.2).contains(&ratio.ratio), "{ratio:?}");
    assert!((far.figures[&LagQuantity::CpuUsPerOperation].median - 4.0).abs() < 1e-9);
    let said = &far.figures[&LagQuantity::SaidMaxSeconds];
    assert!(said.against_base.is_none(), "servers mean different things by it");
}

#[test]
fn equal_lags_are_no_finding_and_without_replicas_there_is_no_test() {
    let found = lags(&planted(8, 1.0));
    let figures = found[0].systems[1].figures.values().filter_map(|figure| figure.against_base);
    let alarms = figures.filter(|ratio| matches!(ratio.finding, Finding::Improved | Finding::Regressed));
    assert_eq!(alarms.count(), 0, "{found:?}");
    let mut alone = planted(8, 1.0);
    alone.trials.iter_mut().for_each(|trial| trial.record.replicas.clear());
    assert!(lags(&alone).is_empty());
}
