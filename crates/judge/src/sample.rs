//! Sample runs for tests, in the form in which runs are read from the results file.

use std::ops::Range;

use dyno_store::{
    CountsRecord, Ending, InstanceRecord, LimitsRecord, Measured, Neighbours, Operation, Outcome, Phase, Run,
    RunId, RunRecord, RunState, SecondRate, SliceRecord, StepRecord, SystemRecord, Trial, TrialId,
    TrialRecord, UnmetLimit, Usage,
};

pub(crate) use dyno_store::latency_record as latency;

/// A run of these systems that has no steps yet. The first system is the base.
pub(crate) fn run(id: i64, systems: &[&str]) -> Run {
    let system = |(at, id): (usize, &&str)| SystemRecord {
        id: (*id).to_owned(),
        name: "mariadb@10.11/innodb".to_owned(),
        position: at as u32,
        is_base: at == 0,
        ..SystemRecord::default()
    };
    Run {
        systems: systems.iter().enumerate().map(system).collect(),
        ..Run::new(
            RunId(id),
            RunRecord { plan_name: "plan".to_owned(), seed: 7, ..RunRecord::default() },
            RunState::Ended(Ending::Finished),
        )
    }
}

/// Records that neighbours used CPU time during a system's trials of a step, in some rounds. The host has two CPUs,
/// and the trials last ten seconds.
pub(crate) fn disturb_in(run: &mut Run, step: &str, system: &str, rounds: Range<u32>, cpu_us: u64) {
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
        if trial.step_id == step && trial.system_id == system && rounds.contains(&trial.round) {
            trial.neighbours = Neighbours {
                watched_us: Some(10_000_000),
                watched_cpus: Some(2),
                neighbour_cpu_us: Some(cpu_us),
                neighbour_steal_us: Some(0),
            };
        }
    }
}

/// Adds a step of ten seconds with the rates of each system's trials at one client count.
pub(crate) fn add_step(run: &mut Run, group: &str, step: &str, clients: u32, rates: &[(&str, Vec<f64>)]) {
    let trials = rates.iter().map(|(_, rates)| rates.len()).max().unwrap_or(0);
    match run.steps.iter_mut().find(|known| known.id == step) {
        Some(known) => known.clients.push(clients),
        None => run.steps.push(StepRecord {
            id: step.to_owned(),
            group: group.to_owned(),
            position: run.steps.len() as u32,
            command: "run".to_owned(),
            operation: Operation::Transaction,
            clients: vec![clients],
            rounds: trials as u32,
            seconds: Some(10.0),
            ..StepRecord::default()
        }),
    }
    run.record.rounds = run.record.rounds.max(trials as u32);
    for round in 0..trials as u32 {
        for (system, rates) in rates {
            let Some(rate) = rates.get(round as usize) else { continue };
            add_instance(run, system, round);
            let position = run.trials.len() as u32;
            let mut record = trial(step, system, clients, round, *rate);
            record.position = position;
            record.started_at_ms = run.id.0 * 1_000_000_000 + i64::from(position) * 12_000;
            run.trials.push(Trial { id: TrialId(run.id.0 * 10_000 + i64::from(position)), record });
        }
    }
}

/// Adds an instance of a system that took 2 s to start and 1 s to warm up, unless the system has an instance in
/// this round.
fn add_instance(run: &mut Run, system: &str, round: u32) {
    let is_it = |instance: &InstanceRecord| instance.system_id == system && instance.round == round;
    if !run.instances.iter().any(is_it) {
        run.instances.push(InstanceRecord {
            system_id: system.to_owned(),
            round,
            is_fresh: true,
            start_seconds: 2.0,
            warm_seconds: 1.0,
            settle_seconds: 0.0,
            ..InstanceRecord::default()
        });
    }
}

/// Divides a trial into slices with these rates. Each slice takes a tenth of a second, and cycles are numbered from
/// 0.
pub(crate) fn slice(trial: &mut TrialRecord, rates: &[f64]) {
    let slice = |(cycle, rate): (u32, &f64)| SliceRecord {
        cycle,
        started_us: u64::from(cycle) * 200_000,
        seconds: 0.1,
        operations: rate * 0.1,
    };
    trial.slices = (0..).zip(rates).map(slice).collect();
    let operations: f64 = trial.slices.iter().map(|slice| slice.operations).sum();
    trial.measured = Some(measured(0.1 * rates.len() as f64, operations.round() as u64, 1000));
}

/// A trial of ten seconds. Per operation it has 40 µs of server CPU, 2 KiB written and a latency of clients / rate.
pub(crate) fn trial(step: &str, system: &str, clients: u32, round: u32, rate: f64) -> TrialRecord {
    let operations = (rate * 10.0).round() as u64;
    let latency_us = if rate > 0.0 { (f64::from(clients) * 1e6 / rate) as u64 } else { 1 };
    TrialRecord {
        system_id: system.to_owned(),
        step_id: step.to_owned(),
        clients,
        round,
        outcome: Outcome::Completed,
        measured: Some(measured(10.0, operations, latency_us)),
        usage: Usage {
            server_user_cpu_us: Some(operations * 30),
            server_system_cpu_us: Some(operations * 10),
            process_write_bytes: Some(operations * 2048),
            ..Usage::default()
        },
        ..TrialRecord::default()
    }
}

/// A record of limits in which the memory differs from the plan's 256M.
pub(crate) fn memory_limit(found: &str) -> LimitsRecord {
    let difference =
        UnmetLimit { limit: "memory".to_owned(), asked: "256M".to_owned(), found: found.to_owned() };
    LimitsRecord { differences: vec![difference], ..LimitsRecord::default() }
}

/// Samples of one second each, with a warm-up of two seconds.
pub(crate) fn seconds(rates: &[f64]) -> Vec<SecondRate> {
    let warmup = [1.0, 2.0].map(|rate| (Phase::Warmup, rate));
    let all = warmup.into_iter().chain(rates.iter().map(|rate| (Phase::Measure, *rate)));
    all.map(|(phase, rate)| SecondRate {
        phase,
        seconds: 1.0,
        operations: rate as u64,
        events: rate as u64,
        due: None,
        failed: 0,
        p99_us: None,
    })
    .collect()
}

/// Makes every trial of a system in a step a failure.
pub(crate) fn fail(run: &mut Run, step: &str, system: &str) {
    fail_in(run, step, system, 0..u32::MAX);
}

/// Makes the trials of a system in a step failures, in some rounds.
pub(crate) fn fail_in(run: &mut Run, step: &str, system: &str, rounds: Range<u32>) {
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
        if trial.step_id == step && trial.system_id == system && rounds.contains(&trial.round) {
            trial.outcome = Outcome::failed("it died");
        }
    }
}

/// Random rates around a centre, which differ from it by up to the share `spread`. `salt` is the seed.
pub(crate) fn around(centre: f64, spread: f64, n: usize, salt: u64) -> Vec<f64> {
    let mut random = dyno_stats::SplitMix64::new(salt);
    (0..n).map(|_| centre * (1.0 + spread * (random.below(2001) as f64 / 1000.0 - 1.0))).collect()
}

fn measured(seconds: f64, operations: u64, latency_us: u64) -> Measured {
    Measured {
        seconds,
        counts: CountsRecord { operations, events: operations, ..CountsRecord::default() },
        due: None,
        latency: latency([latency_us]),
    }
}
