use dyno_store::{StackProfile, StackRecord};

use super::*;
use crate::sample::{add_step, run};

fn stack(kind: &str, is_idle: bool, frames: &str, count: u32) -> StackRecord {
    let function = frames.rsplit(';').next().unwrap().to_owned();
    StackRecord { thread_kind: kind.to_owned(), is_idle, function, frames: frames.to_owned(), count }
}

/// Ten samples of one purge thread and five connections. One connection waits for its client.
fn profile() -> StackProfile {
    StackProfile {
        seconds: 2.0,
        operations: 100,
        samples: 10,
        sample_ms_median: 8.0,
        stacks: vec![
            stack("connection", false, "run;write;lock_wait", 30),
            stack("connection", true, "run;my_net_read", 10),
            stack("purge", false, "purge;sleep", 10),
            stack("connection", false, "run;write", 6),
            stack("connection", false, "run;read", 4),
        ],
        ..StackProfile::default()
    }
}

fn run_with_stacks() -> Run {
    let mut run = run(1, &["a", "b"]);
    add_step(&mut run, "g", "s", 4, &[("a", vec![100.0, 100.0]), ("b", vec![100.0, 100.0])]);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.round == 0) {
        trial.record.stacks = Some(profile());
    }
    run
}

#[test]
fn shares_are_of_the_threads_of_a_kind() {
    let run = run_with_stacks();
    let summaries = stack_summaries(&run);
    assert_eq!(summaries.len(), 2);
    let first = &summaries[0];
    assert_eq!((first.step.as_str(), first.clients, first.system.as_str()), ("s", 4, "a"));
    assert!((first.rate_share.unwrap() - 0.5).abs() < 0.01, "{:?}", first.rate_share);
    let [connections, purge] = &first.threads[..] else { panic!("{:?}", first.threads) };
    assert_eq!((connections.kind.as_str(), purge.kind.as_str()), ("connection", "purge"));
    assert!((connections.threads_mean - 5.0).abs() < 1e-12);
    assert!((connections.idle_share - 0.2).abs() < 1e-12);
    let functions: Vec<_> =
        connections.functions.iter().map(|it| (it.function.as_str(), (it.share * 100.0).round())).collect();
    assert_eq!(functions, [("lock_wait", 60.0), ("write", 12.0), ("read", 8.0)]);
}

#[test]
fn a_flame_graph_has_each_thread_once_at_every_depth() {
    let run = run_with_stacks();
    let stacks = stacks_of(&run, "s", 4, "b").unwrap();
    let tree = flame(stacks, FlameThreads::Connections);
    assert!((tree.weight - 4.0).abs() < 1e-12, "one of five waits for its client: {}", tree.weight);
    let [outermost] = &tree.children[..] else { panic!() };
    assert_eq!(outermost.function, "run");
    let names: Vec<_> = outermost.children.iter().map(|node| node.function.as_str()).collect();
    assert_eq!(names, ["read", "write"]);
    let [_, write] = &outermost.children[..] else { panic!() };
    assert!((write.weight - 3.6).abs() < 1e-12 && (write.children[0].weight - 3.0).abs() < 1e-12);
    let background = flame(stacks, FlameThreads::Background);
    assert_eq!(background.children[0].function, "purge", "the kind is the outermost");
    assert!(stacks_of(&run, "s", 8, "b").is_none() && stacks_of(&run, "other", 4, "b").is_none());
}

#[test]
fn a_difference_counts_thread_seconds_for_an_operation_and_has_what_only_one_has() {
    let base = profile();
    let stacks = vec![stack("connection", false, "run;write", 20), stack("connection", false, "run;log", 20)];
    let candidate = StackProfile { operations: 400, stacks, ..profile() };
    let tree = flame_difference(&base, &candidate, FlameThreads::Connections).unwrap();
    // Four threads ran for 2 s, during 100 operations of the base and 400 operations of the candidate.
    assert!((tree.base - 0.08).abs() < 1e-12 && (tree.weight - 0.02).abs() < 1e-12);
    let of = |name: &str| tree.children[0].children.iter().find(|node| node.function == name).unwrap();
    assert!(of("log").base.abs() < 1e-12 && (of("log").weight - 0.01).abs() < 1e-12);
    assert!(of("read").weight.abs() < 1e-12 && of("read").base > 0.0);
    let write = of("write");
    assert!((write.base - 0.072).abs() < 1e-12 && (write.weight - 0.01).abs() < 1e-12);
    assert!(write.children[0].weight.abs() < 1e-12, "the candidate does not wait for locks");
    let none = StackProfile { operations: 0, ..profile() };
    assert_eq!(flame_difference(&base, &none, FlameThreads::Connections), None);
    let unsampled = StackProfile { samples: 0, ..profile() };
    assert_eq!(flame_difference(&unsampled, &base, FlameThreads::Connections), None);
}

#[test]
fn the_functions_whose_time_changed_most_come_first() {
    let base = profile();
    let stacks = vec![stack("connection", false, "run;write", 16), stack("connection", false, "run;log", 24)];
    let candidate = StackProfile { operations: 100, stacks, ..profile() };
    let changes = function_changes(&base, &candidate);
    let told: Vec<_> = changes
        .iter()
        .map(|it| (it.function.as_str(), it.base_us.round(), it.candidate_us.round()))
        .collect();
    // Each sampled stack stands for a tenth of 2 s. Divided by 100 operations, that is 2 ms.
    assert_eq!(
        told,
        [
            ("lock_wait", 60_000.0, 0.0),
            ("log", 0.0, 48_000.0),
            ("write", 12_000.0, 32_000.0),
            ("read", 8_000.0, 0.0)
        ]
    );
    let none = StackProfile { samples: 0, ..profile() };
    assert!(function_changes(&base, &none).is_empty() && function_changes(&none, &base).is_empty());
}
