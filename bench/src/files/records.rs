//! Reproducible records that resemble those of a real run: latencies vary and counters rise.

use dyno_store::{
    CounterRecord, CountsRecord, LatencyRecord, Measured, Operation, Outcome, Phase, RunRecord, SampleRecord,
    StepRecord, SystemRecord, TrialRecord, Usage, latency_record,
};
use serde_json::json;

pub(crate) const STARTED_AT_MS: i64 = 1_795_289_000_000;

const SYSTEMS: [&str; 2] = ["old", "new"];
const STEPS: u32 = 5;
const CLIENTS: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Number of trials in a pass: one for each system, step and number of clients.
const TRIALS_A_PASS: u32 = (SYSTEMS.len() * CLIENTS.len()) as u32 * STEPS;

/// Number of different histograms. In a real run, all histograms differ. Here they are reused, because making them
/// is not part of the measurement.
const HISTOGRAMS: usize = 64;

/// Number of events in the histogram of one second.
const EVENTS_A_HISTOGRAM: u32 = 5_000;

pub(crate) fn run() -> RunRecord {
    RunRecord {
        plan_name: "large".to_owned(),
        plan_title: "A large file".to_owned(),
        scale: 1.0,
        started_at_ms: STARTED_AT_MS,
        ..RunRecord::default()
    }
}

pub(crate) fn systems() -> Vec<SystemRecord> {
    let system = |(position, id): (u32, &str)| SystemRecord {
        id: id.to_owned(),
        name: format!("mysql@{position}/innodb"),
        position,
        is_base: position == 0,
        requested_settings: json!({}),
        variables: (0..600).map(|number| (format!("variable_{number}"), format!("{number}"))).collect(),
        ..SystemRecord::default()
    };
    (0..).zip(SYSTEMS).map(system).collect()
}

pub(crate) fn steps(trials: u32, seconds: u32) -> Vec<StepRecord> {
    let step = |position| StepRecord {
        id: format!("step-{position}"),
        group: "all".to_owned(),
        position,
        workload: "oltp_read_write".to_owned(),
        command: "run".to_owned(),
        operation: Operation::Query,
        clients: CLIENTS.to_vec(),
        rounds: trials.div_ceil(TRIALS_A_PASS),
        seconds: Some(f64::from(seconds)),
        options: json!({}),
        ..StepRecord::default()
    };
    (0..STEPS).map(step).collect()
}

/// The random values from which records are made.
pub(crate) struct Pool {
    histograms: Vec<LatencyRecord>,
    random: Random,
}

impl Pool {
    pub(crate) fn new() -> Self {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let histograms = (0..HISTOGRAMS).map(|_| histogram(&mut random)).collect();
        Self { histograms, random }
    }

    /// Makes a trial with one sample per second and `series` counters that change each second.
    pub(crate) fn trial(&mut self, number: u32, seconds: u32, series: u32) -> TrialRecord {
        let place = number as usize;
        TrialRecord {
            system_id: SYSTEMS[place % SYSTEMS.len()].to_owned(),
            clients: CLIENTS[place / SYSTEMS.len() % CLIENTS.len()],
            step_id: format!("step-{}", number / (TRIALS_A_PASS / STEPS) % STEPS),
            round: number / TRIALS_A_PASS,
            position: number,
            started_at_ms: STARTED_AT_MS + i64::from(number),
            outcome: Outcome::Completed,
            measured: Some(self.measured(f64::from(seconds))),
            usage: self.usage(),
            disk_bytes_after: Some(1 << 30),
            counters: (0..series).map(|counter| self.counter(counter, seconds)).collect(),
            samples: (0..seconds).map(|second| self.sample(second)).collect(),
            ..TrialRecord::default()
        }
    }

    fn sample(&mut self, number: u32) -> SampleRecord {
        SampleRecord { number, phase: Phase::Measure, measured: self.measured(1.0), usage: self.usage() }
    }

    fn measured(&mut self, seconds: f64) -> Measured {
        let events = (seconds * (50_000 + self.random.below(5_000)) as f64) as u64;
        let counts =
            CountsRecord { operations: 20 * events, events, reads: 14 * events, ..CountsRecord::default() };
        let latency = self.histograms[self.random.below(HISTOGRAMS as u64) as usize].clone();
        Measured { seconds, counts, due: None, latency }
    }

    fn usage(&mut self) -> Usage {
        let mut some = || Some(1_000_000 + self.random.below(1_000_000));
        Usage {
            server_user_cpu_us: some(),
            server_system_cpu_us: some(),
            server_context_switches: some(),
            client_user_cpu_us: some(),
            client_system_cpu_us: some(),
            client_context_switches: some(),
            pooler_user_cpu_us: some(),
            pooler_system_cpu_us: some(),
            process_read_bytes: some(),
            process_write_bytes: some(),
            device_reads: some(),
            device_read_bytes: some(),
            device_writes: some(),
            device_write_bytes: some(),
            device_flushes: some(),
            host_user_cpu_us: some(),
            host_system_cpu_us: some(),
            host_iowait_cpu_us: some(),
            host_steal_cpu_us: some(),
            host_idle_cpu_us: some(),
        }
    }

    fn counter(&mut self, number: u32, seconds: u32) -> CounterRecord {
        let mut value = 1e6;
        let mut next = || {
            value += self.random.below(20_000) as f64;
            value
        };
        let values: Vec<f64> = (0..seconds).map(|_| next()).collect();
        CounterRecord {
            name: format!("counter_{number}"),
            is_gauge: false,
            first: 1e6,
            last: values.last().copied().unwrap_or(1e6),
            values,
        }
    }
}

/// Makes an HDR histogram of latencies in µs. Most latencies are small, and a few are large.
fn histogram(random: &mut Random) -> LatencyRecord {
    latency_record((0..EVENTS_A_HISTOGRAM).map(|_| {
        let unit = (random.below(1 << 20) + 1) as f64 / f64::from(1 << 20);
        (400.0 * unit.powf(-0.7)) as u64
    }))
}

/// A random number generator: Marsaglia's xorshift64 (Journal of Statistical Software 8(14), 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
