//! Runs as the results file returns them, for tests.

mod checks;
mod crashes;
mod disrupted;
mod drivers;
mod explained;
mod hosts;
mod in_force;
mod ladder;
mod queries;
mod replays;
mod replicated;
mod searches;
mod stacks;

use dyno_judge::{Analysis, Rule, analyse};
use dyno_store::{
    Allocation, ClaimRecord, Configuration, Correction, CountsRecord, Ending, FactorLevel, HostRecord,
    InstanceRecord, JoinRecord, LatencyRecord, LimitsRecord, Measured, Memory, Operation, Outcome, Price,
    PricedInstance, PricedVolume, Run, RunId, RunRecord, RunState, SliceRecord, StepRecord, SystemRecord,
    Trial, TrialId, TrialRecord, UnmetLimit, Usage,
};

use crate::{Details, PageInput, Reasons};

pub(crate) use checks::checks;
pub(crate) use crashes::crashed_run;
pub(crate) use disrupted::disrupted_run;
pub(crate) use drivers::driven_run;
pub(crate) use explained::{change, effect, explanation, planned, proof};
pub(crate) use hosts::spread_run;
pub(crate) use in_force::same_run;
pub(crate) use ladder::laddered_run;
pub(crate) use queries::queried_run;
pub(crate) use replays::replayed_run;
pub(crate) use replicated::replicated_run;
pub(crate) use searches::searched_run;

/// Three systems and six steps, at 1 and 4 clients. Rates of rounds differ by up to 4%, but in the step `read-only`
/// only by up to 0.4%. Steps of the group `read-only` have slices, whose rates differ by up to 4% too.
pub(crate) fn run(rounds: u32) -> Run {
    let systems = vec![
        system(0, "mysql56", "mysql@5.6.24/innodb", "5.6.24-log"),
        system(1, "maria", "mariadb@10.11/innodb", "10.11.14-MariaDB-0+deb12u2"),
        system(2, "myrocks", "mariadb@10.11/rocksdb", "10.11.14-MariaDB-0+deb12u2"),
    ];
    let steps = vec![
        step(0, "load", "load", Operation::Row, &[4], 1),
        step(1, "read-only", "point-query", Operation::Query, &[1, 4], rounds),
        step(2, "read-only", "read-only", Operation::Transaction, &[1, 4], rounds),
        step(3, "write-heavy", "update-index", Operation::Query, &[1, 4], rounds),
        step(4, "write-heavy", "update-nonindex", Operation::Query, &[1, 4], rounds),
        step(5, "write-heavy", "read-write", Operation::Transaction, &[1, 4], rounds),
    ];
    let mut run = Run {
        finished_at_ms: Some(1_795_290_000_000),
        systems,
        steps,
        ..Run::new(RunId(3), RunRecord { rounds, ..record() }, RunState::Ended(Ending::Finished))
    };
    add_instances(&mut run);
    for step in run.steps.clone() {
        for &clients in &step.clients {
            for number in 0..step.rounds {
                for system in &run.systems.clone() {
                    let position = run.trials.len() as u32;
                    run.trials.push(trial(&step, system, clients, number, position));
                }
            }
        }
    }
    run
}

/// A run of the largest expected size: 38 tests, five systems, three client counts.
pub(crate) fn large_run() -> Run {
    run_of(38, 5, 7, &[1, 4, 16])
}

/// A run with the given numbers of steps and systems. Each step runs at each of the client counts, in `rounds` rounds.
pub(crate) fn run_of(steps: u32, systems: u32, rounds: u32, clients: &[u32]) -> Run {
    let mut run = run(rounds);
    let more = [("postgres18", "postgres@18.4", "18.4"), ("mysql84", "mysql@8.4.5/innodb", "8.4.5")];
    let more = more.into_iter().chain([("mysql97", "mysql@9.7.0/innodb", "9.7.0")]);
    for (position, (id, name, version)) in (3..systems).zip(more) {
        run.systems.push(system(position, id, name, version));
    }
    run.steps = (0..steps)
        .map(|at| {
            let group = ["read-only before", "write-heavy", "read-only after"][(at * 3 / steps) as usize];
            let id = format!("read-only.range{}.{at}", 10 << (at % 8));
            step(at, group, &id, Operation::Query, clients, rounds)
        })
        .collect();
    add_instances(&mut run);
    run.trials.clear();
    for step in run.steps.clone() {
        for &clients in clients {
            for number in 0..rounds {
                for system in &run.systems.clone() {
                    let position = run.trials.len() as u32;
                    // Steps and systems beyond those of `run` repeat the figures of its steps and systems.
                    let (mut like, mut by) = (step.clone(), system.clone());
                    (like.position, by.position) = (step.position % 6, system.position % 3);
                    run.trials.push(trial(&like, &by, clients, number, position));
                }
            }
        }
    }
    run
}

/// Adds a fresh instance of every system in every round. A start takes 1.4 s.
fn add_instances(run: &mut Run) {
    let instance = |round: u32, system: &SystemRecord| InstanceRecord {
        system_id: system.id.clone(),
        round,
        started_at_ms: 1_795_288_900_000 + i64::from(round) * 600_000,
        is_fresh: true,
        start_seconds: 1.1,
        warm_seconds: 0.3,
        settle_seconds: 0.0,
    };
    run.instances = (0..run.record.rounds)
        .flat_map(|round| run.systems.iter().map(move |system| instance(round, system)))
        .collect();
}

pub(crate) fn trial_mut<'a>(
    run: &'a mut Run,
    step: &str,
    system: &str,
    clients: u32,
    round: u32,
) -> &'a mut TrialRecord {
    let mut records = run.trials.iter_mut().map(|trial| &mut trial.record);
    let is_it = |record: &&mut TrialRecord| {
        (&*record.step_id, &*record.system_id, record.clients, record.round) == (step, system, clients, round)
    };
    records.find(is_it).expect("the run has the trial")
}

/// Sets the rate of a trial. If the trial has slices, they all get this rate.
pub(crate) fn set_rate(record: &mut TrialRecord, operations_per_second: u64) {
    let measured = record.measured.as_mut().expect("the trial was measured");
    measured.counts.operations = operations_per_second * 10;
    record.slices.iter_mut().for_each(|slice| slice.operations = operations_per_second as f64);
}

/// Makes a trial a failure.
pub(crate) fn fail(run: &mut Run, step: &str, system: &str, clients: u32, round: u32, message: &str) {
    let record = trial_mut(run, step, system, clients, round);
    record.outcome = Outcome::failed(message);
    record.measured = None;
    record.slices = Vec::new();
    record.usage = Usage::default();
}

/// Makes a system look as if it ran inside the load process.
pub(crate) fn put_in_process(run: &mut Run, system: &str) {
    for trial in
        run.trials.iter_mut().map(|trial| &mut trial.record).filter(|trial| trial.system_id == system)
    {
        trial.usage.client_user_cpu_us = None;
        trial.usage.client_system_cpu_us = None;
        trial.usage.client_context_switches = None;
        trial.memory.client_memory_peak_bytes = None;
    }
}

/// A run with every feature of a report: all kinds of verdicts, failures, an unsteady rate, stalls, work between
/// slices, limits that differ from the plan's limits, tables that were loaded again, an in-process system, a reused
/// instance, and a time budget.
pub(crate) fn eventful_run() -> Run {
    let mut run = run(12);
    fail(&mut run, "read-write", "myrocks", 4, 1, "the server closed the connection after 3.2 s");
    for round in 0..12 {
        fail(&mut run, "update-index", "maria", 1, round, "the server does not start: out of memory");
        // mysql56 stalls in five rounds and maria in the other rounds. myrocks stalls in every round.
        stall(trial_mut(&mut run, "read-only", if round > 4 { "maria" } else { "mysql56" }, 4, round));
        stall(trial_mut(&mut run, "read-only", "myrocks", 4, round));
        trial_mut(&mut run, "point-query", "myrocks", 1, round).rest_cpu_us = Some(5_000_000);
    }
    for round in 3..5 {
        trial_mut(&mut run, "point-query", "myrocks", 4, round).loaded_again = vec!["load".to_owned()];
    }
    trial_mut(&mut run, "update-nonindex", "myrocks", 4, 2).limits = Some(memory_limit());
    stacks::add(&mut run);
    put_in_process(&mut run, "maria");
    for instance in run.instances.iter_mut().filter(|instance| instance.system_id == "maria") {
        instance.is_fresh = instance.round == 0;
    }
    run.steps[2].repeats = Some("point-query".to_owned());
    run.allocation = Some(Allocation {
        budget_seconds: 7_200.0,
        pilot_rounds: 3,
        rounds: 12,
        seconds_per_trial: 10.0,
        restart_seconds: Some(4.2),
        between_instances: Some(0.011),
        between_slices: Some(0.058),
    });
    run.record.claims = vec![
        claim("faster", "ratio(maria, mysql56, throughput, point-query, 1) > 1", Some(1.25)),
        claim("cheaper", "ratio(myrocks, mysql56, server_cpu_us, read-only) < 1", None),
        claim("typo", "ratio(mirocks, mysql56, throughput, read-only) < 1", None),
    ];
    run
}

/// A run with four systems of a sweep and one other system. At a depth of 1000, eight instances are 1.5 times as fast
/// as one. A depth of 4000 is 1.3 times as fast as a depth of 1000 at 8 clients, and 0.7 times as fast at 64 clients.
/// With eight instances, these two factors are multiplied by 1.2.
pub(crate) fn swept_run() -> Run {
    let mut run = run_of(2, 5, 8, &[8, 64]);
    let configurations = [("1", "1000"), ("1", "4000"), ("8", "1000"), ("8", "4000")];
    for (at, system) in run.systems.iter_mut().enumerate() {
        system.price = Some(price(at));
    }
    for (system, (instances, depth)) in run.systems.iter_mut().zip(configurations) {
        let level =
            |factor: &str, level: &str| FactorLevel { factor: factor.to_owned(), level: level.to_owned() };
        let levels = vec![level("instances", instances), level("depth", depth)];
        system.configuration = Some(Configuration { sweep: "mysql56".to_owned(), levels });
    }
    let ids: Vec<String> = run.systems.iter().map(|system| system.id.clone()).collect();
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let at = ids.iter().position(|id| *id == record.system_id).expect("a system of the run");
        let of_depth = if record.clients == 8 { 1.3 } else { 0.7 };
        let factor = [1.0, of_depth, 1.5, 1.8 * of_depth, 1.0][at];
        let rate = 1000.0 * factor * (1.0 + 0.001 * f64::from(record.round));
        record.slices.clear();
        if let Some(measured) = &mut record.measured {
            measured.counts.operations = (rate * measured.seconds) as u64;
        }
    }
    run
}

/// Five systems of a sweep of IOPS. Their prices increase with the IOPS.
pub(crate) fn hardware_run() -> Run {
    let mut run = run_of(1, 5, 6, &[8]);
    let ids: Vec<String> = run.systems.iter().map(|system| system.id.clone()).collect();
    for (at, system) in run.systems.iter_mut().enumerate() {
        let iops = 1000 << at;
        system.name = "mysql@8.0".to_owned();
        system.confinement =
            Some(serde_json::json!({ "server_cpus": "0-7", "read_iops": iops, "write_iops": iops }));
        system.dollars_per_hour = Some(f64::from(at as u32 + 1));
    }
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let at = ids.iter().position(|id| *id == record.system_id).expect("a system of the run");
        let rate = f64::min(100.0 * f64::from(1 << at), 900.0) * (1.0 + 0.001 * f64::from(record.round));
        record.slices.clear();
        let measured = record.measured.as_mut().unwrap();
        measured.counts.operations = (rate * measured.seconds) as u64;
        record.usage.device_reads = Some((9.0 * rate * measured.seconds) as u64);
        record.usage.device_writes = Some((rate * measured.seconds) as u64);
        record.usage.device_flushes = Some(0);
    }
    run
}

/// A run of two systems and three rounds. In its step, writers join, first 4 and later 12 more, and the readers' rates
/// fall to a half and then to a quarter. The second system's rates are twice as high. [`checks`] has the rates of each
/// second.
pub(crate) fn joined_run() -> Run {
    let mut run = run_of(2, 2, 3, &[64]);
    run.systems.truncate(2);
    run.trials.retain(|trial| trial.record.system_id != "myrocks");
    run.instances.retain(|instance| instance.system_id != "myrocks");
    let ids = ["mixed", "mixed.writers"];
    for trial in &mut run.trials {
        let at =
            run.steps.iter().position(|step| step.id == trial.record.step_id).expect("a step of the run");
        ids[at].clone_into(&mut trial.record.step_id);
        trial.record.slices.clear();
    }
    for (step, id) in run.steps.iter_mut().zip(ids) {
        id.clone_into(&mut step.id);
        "mixed".clone_into(&mut step.group);
    }
    run.steps[1].operation = Operation::Transaction;
    run.steps[1].background_of = Some("mixed".to_owned());
    run.steps[1].joins =
        vec![JoinRecord { at_seconds: 3.0, clients: 4 }, JoinRecord { at_seconds: 6.0, clients: 16 }];
    run
}

/// An instance and a volume. IOPS and price increase with the position of the system.
fn price(at: usize) -> Price {
    let iops = 1000 * (at as u64 + 1);
    Price {
        list: "vendor".to_owned(),
        date: "2026-11-01".to_owned(),
        source: "a page".to_owned(),
        instance: Some(PricedInstance {
            name: "large".to_owned(),
            cpus: 36,
            dollars_per_year: 7881.0,
            ..PricedInstance::default()
        }),
        volume: Some(PricedVolume {
            name: format!("io-{iops}"),
            kind: Some("io".to_owned()),
            size_bytes: 1 << 40,
            iops,
            storage_dollars_per_year: 1500.0,
            iops_dollars_per_year: 0.78 * iops as f64,
        }),
    }
}

/// Inserts a stall into one of the slices of a trial.
fn stall(record: &mut TrialRecord) {
    record.slices[3].operations = 1.0;
    let operations: f64 = record.slices.iter().map(|slice| slice.operations).sum();
    record.measured.as_mut().expect("the trial was measured").counts.operations = operations as u64;
}

/// Limits in force. The limit of memory differs from the plan's.
fn memory_limit() -> LimitsRecord {
    let difference =
        UnmetLimit { limit: "memory".to_owned(), asked: "256M".to_owned(), found: "512M".to_owned() };
    LimitsRecord { differences: vec![difference], ..LimitsRecord::default() }
}

fn claim(id: &str, expression: &str, published: Option<f64>) -> ClaimRecord {
    ClaimRecord {
        id: id.to_owned(),
        expression: expression.to_owned(),
        says: format!("{id} than MySQL"),
        published,
        source: published.map(|_| "a post".to_owned()),
    }
}

/// The reports on a run, with the sample's [`checks`].
pub(crate) fn reports(run: &Run) -> crate::Reports {
    crate::reports(run, &checks(run), &analysis(run))
}

/// Calls `look` with the input of the page of a run. The input has no details of trials.
pub(crate) fn with_page_input<T>(run: &Run, look: impl FnOnce(&PageInput<'_>) -> T) -> T {
    look(&PageInput {
        run,
        analysis: &analysis(run),
        details: &Details::default(),
        curves: &[],
        reasons: &Reasons::default(),
        is_live: false,
    })
}

/// The analysis of a run, with the sample's [`checks`].
pub(crate) fn analysis(run: &Run) -> Analysis {
    analyse(run, &checks(run), &Rule::default())
}

fn record() -> RunRecord {
    RunRecord {
        plan_name: "first-look".to_owned(),
        plan_title: "MySQL 5.6, MariaDB 10.11 and MyRocks side by side".to_owned(),
        plan_text: String::new(),
        dyno_version: "0.1.0".to_owned(),
        seed: u64::MAX,
        scale: 1.0,
        started_at_ms: 1_795_289_000_000,
        host: HostRecord {
            hostname: Some("bench".to_owned()),
            os: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
            kernel: Some("6.1.0-18-amd64".to_owned()),
            cpu_model: Some("AMD EPYC 7763 64-Core Processor".to_owned()),
            cpus: Some(2),
            memory_bytes: Some(8_330_000_000),
            ..HostRecord::default()
        },
        command_line: "dyno run first-look".to_owned(),
        claims: Vec::new(),
        rounds: 0,
        looks: 1,
        correction: Correction::default(),
        counts_disturbed: false,
        ladders: Vec::new(),
        counters: Vec::new(),
        spread_id: None,
        search: None,
    }
}

fn system(position: u32, id: &str, name: &str, version: &str) -> SystemRecord {
    SystemRecord {
        id: id.to_owned(),
        name: name.to_owned(),
        engine_version: Some(version.to_owned()),
        position,
        is_base: position == 0,
        requested_settings: serde_json::json!({}),
        ..SystemRecord::default()
    }
}

fn step(
    position: u32,
    group: &str,
    id: &str,
    operation: Operation,
    clients: &[u32],
    rounds: u32,
) -> StepRecord {
    StepRecord {
        id: id.to_owned(),
        group: group.to_owned(),
        position,
        workload: format!("oltp_{id}"),
        command: if operation == Operation::Row { "prepare" } else { "run" }.to_owned(),
        operation,
        clients: clients.to_vec(),
        rounds,
        seconds: (operation != Operation::Row).then_some(10.0),
        warmup_seconds: 2.0,
        options: serde_json::json!({}),
        ..StepRecord::default()
    }
}

/// Speed as a multiple of the base's, by system and step.
const SPEED: [[f64; 6]; 3] =
    [[1.0; 6], [1.084, 1.12, 1.004, 0.943, 0.927, 1.02], [1.463, 0.71, 0.434, 2.613, 1.823, 0.886]];

fn trial(step: &StepRecord, system: &SystemRecord, clients: u32, number: u32, position: u32) -> Trial {
    const BASE_RATE: [f64; 6] = [41_300.0, 9_870.0, 512.0, 3_140.0, 3_525.0, 221.0];
    let (step_at, system_at) = (step.position as usize, system.position as usize);
    // In one step, rounds differ so little that the verdict can be "same".
    let spread = if step_at == 2 { 0.001 } else { 0.01 };
    let noise = 1.0 + f64::from((number * 7 + system.position * 3 + step.position) % 5) * spread;
    let rate = BASE_RATE[step_at] * SPEED[system_at][step_at] * f64::from(clients).powf(0.55) * noise;
    let operations = (rate * 10.0).round();
    let is_write = step.position == 0 || step.position > 2;
    let written = if is_write { 5_300.0 / SPEED[system_at][step_at] } else { 0.0 };
    let each = |amount: f64| Some((amount * operations).round() as u64);
    let is_sliced = step.group.starts_with("read-only");
    let slices = if is_sliced { slices(operations as u64, system.position) } else { Vec::new() };
    Trial {
        id: TrialId(i64::from(position) + 1),
        record: TrialRecord {
            system_id: system.id.clone(),
            step_id: step.id.clone(),
            clients,
            round: number,
            position,
            started_at_ms: 1_795_289_000_000 + i64::from(position) * 12_000,
            outcome: Outcome::Completed,
            measured: Some(Measured {
                seconds: 10.0,
                counts: CountsRecord { operations: operations as u64, ..CountsRecord::default() },
                due: None,
                latency: LatencyRecord::default(),
            }),
            usage: Usage {
                server_user_cpu_us: each(600_000.0 / rate),
                server_system_cpu_us: each(210_000.0 / rate),
                server_context_switches: each(2.1),
                client_user_cpu_us: each(4.25),
                client_system_cpu_us: each(2.75),
                client_context_switches: each(1.0),
                process_read_bytes: Some(0),
                process_write_bytes: each(written),
                device_reads: Some(0),
                device_writes: each(if is_write { 0.41 } else { 0.0 }),
                device_flushes: each(if is_write { 0.0312 } else { 0.0 }),
                ..Usage::default()
            },
            memory: Memory {
                server_memory_peak_bytes: Some((310 + 45 * system_at as u64) << 20),
                server_memory_mean_bytes: Some((300 + 45 * system_at as u64) << 20),
                client_memory_peak_bytes: Some(21 << 20),
            },
            rest_cpu_us: is_sliced.then_some(120_000),
            lead_seconds: is_sliced.then_some(0.01),
            slices,
            disk_bytes_after: Some((2.1e8 / SPEED[system_at][step_at].max(1.0)) as u64),
            ..TrialRecord::default()
        },
    }
}

/// Ten slices of a second, in turn with other systems' slices. Rates differ from their mean by up to 2%.
fn slices(operations: u64, system: u32) -> Vec<SliceRecord> {
    let slice = |cycle: u32| {
        let wave = f64::from((cycle * 3 + system) % 5) / 100.0 - 0.02;
        SliceRecord {
            cycle,
            started_us: u64::from(cycle * 3 + system) * 1_000_000,
            seconds: 1.0,
            operations: (operations as f64 / 10.0 * (1.0 + wave)).round(),
        }
    };
    (0..10).map(slice).collect()
}
