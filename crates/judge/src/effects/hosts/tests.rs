use dyno_store::{AttemptRecord, HostRecord, Run};

use super::*;
use crate::analyse;
use crate::sample::{add_step, around, run};
use crate::trial::check::TrialChecks;

/// A run whose rounds are distributed over hosts in turn. On the last host, the candidate's ratio is `odd` times
/// its ratio on the other hosts.
fn spread(hosts: &[&str], rounds: usize, odd: f64) -> Run {
    let mut run = run(1, &["old", "new"]);
    let base = around(1000.0, 0.003, rounds, 1);
    let candidate: Vec<f64> = around(1200.0, 0.003, rounds, 2)
        .into_iter()
        .enumerate()
        .map(|(round, rate)| if (round + 1) % hosts.len() == 0 { rate * odd } else { rate })
        .collect();
    add_step(&mut run, "reads", "point", 1, &[("old", base), ("new", candidate)]);
    run.record.spread_id = Some("5f".to_owned());
    run.attempts = (0..rounds as u32)
        .map(|round| AttemptRecord {
            round,
            node: Some(hosts[round as usize % hosts.len()].to_owned()),
            host: Some(HostRecord {
                cpus: Some(2),
                memory_bytes: Some(8_000_000_000),
                ..HostRecord::default()
            }),
            ..AttemptRecord::default()
        })
        .collect();
    run
}

fn found(run: &Run) -> Option<Hosts> {
    analyse(run, &TrialChecks::new(), &Rule::default()).hosts
}

#[test]
fn a_run_on_one_host_says_nothing_of_hosts() {
    let mut run = spread(&["a", "b"], 8, 1.0);
    run.record.spread_id = None;
    assert_eq!(found(&run), None);
}

#[test]
fn hosts_that_agree_are_not_called_different() {
    let found = found(&spread(&["a", "b", "c"], 12, 1.0)).unwrap();
    let names: Vec<_> = found.hosts.iter().map(|host| (host.name.as_str(), host.rounds)).collect();
    assert_eq!(names, [("a", 4), ("b", 4), ("c", 4)]);
    assert_eq!(found.tests.len(), 1);
    assert_eq!((found.tests[0].disagree, found.tests[0].odd.as_deref()), (false, None));
    assert!(found.tests[0].ratios.iter().all(|host| (host.ratio.unwrap() - 1.2).abs() < 0.02));
}

#[test]
fn the_host_that_stands_apart_is_named() {
    let found = found(&spread(&["a", "b", "c"], 12, 1.1)).unwrap();
    assert!(found.tests[0].disagree, "{:?}", found.tests);
    assert_eq!(found.tests[0].odd.as_deref(), Some("c"));
    assert!(found.tests[0].between_hosts.unwrap() > 0.03, "{:?}", found.tests);
    assert!((found.tests[0].ratios[2].ratio.unwrap() - 1.32).abs() < 0.02);
}

#[test]
fn of_two_hosts_that_disagree_none_is_the_odd_one() {
    let found = found(&spread(&["a", "b"], 12, 1.1)).unwrap();
    assert!(found.tests[0].disagree, "{:?}", found.tests);
    assert_eq!(found.tests[0].odd, None);
}

#[test]
fn one_round_a_host_is_shown_and_not_judged() {
    let found = found(&spread(&["a", "b", "c"], 3, 1.1)).unwrap();
    assert_eq!((found.tests[0].p_adjusted, found.tests[0].disagree), (None, false));
    assert!(found.tests[0].ratios.iter().all(|host| host.rounds == 1 && host.ratio.is_some()));
}

#[test]
fn lost_attempts_are_listed_with_their_reasons() {
    let mut run = spread(&["a", "b"], 4, 1.0);
    let loss = Some("the node is down".to_owned());
    run.attempts.push(AttemptRecord {
        round: 2,
        node: Some("b".to_owned()),
        loss,
        ..AttemptRecord::default()
    });
    let found = found(&run).unwrap();
    let reason = "the node is down".to_owned();
    assert_eq!(found.lost, [LostAttempt { round: 2, host: Some("b".to_owned()), reason }]);
    assert_eq!(found.hosts[1].rounds, 2);
}

#[test]
fn hosts_differ_by_what_decides_speed_and_not_by_their_names() {
    let host = |name: &str, cpu_model: &str, memory_bytes: u64| HostRecord {
        hostname: Some(name.to_owned()),
        cpu_model: Some(cpu_model.to_owned()),
        cpus: Some(8),
        memory_bytes: Some(memory_bytes),
        ..HostRecord::default()
    };
    let first = host("a", "X", 64_000_000_000);
    let like = host("b", "X", 63_900_000_000);
    assert_eq!(host_differences(&first, &like), Vec::<String>::new());
    let other = HostRecord { governor: Some("powersave".to_owned()), ..host("c", "Y", 32_000_000_000) };
    assert_eq!(
        host_differences(&first, &other),
        ["CPU Y, not X", "governor powersave, not unknown", "memory 32.0 GB, not 64.0 GB"]
    );
}
