//! Progress of a run, for observers.

use dyno_engine::{DrainAmount, Entry, Left, Progress};
use dyno_settings::Audit;
use dyno_store::{Outcome, RunId, StoreError};

use super::not_started::NotStarted;
use crate::plan::Step;

pub trait Observer {
    /// Called on the run's thread, between measurements; must return quickly.
    fn observe(&mut self, event: &Event<'_>);
}

/// An event of a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// An engine is being fetched.
    Fetching {
        entry: &'a Entry,
        /// The progress of the fetch.
        progress: Progress,
    },
    /// An earlier run is resumed.
    Resumed {
        run: RunId,
        /// Differences of the host since then, in sentences.
        differences: &'a [String],
    },
    /// Tables are loaded again without measurement.
    Loading { system: &'a str, step: &'a Step },
    /// The data with which a system starts is being made.
    GivingData { system: &'a str, how: &'a str },
    /// A system is restored from kept data.
    Restoring { system: &'a str },
    /// A system's loaded data could not be kept. It will be loaded again.
    NotKept { system: &'a str, reason: &'a str },
    /// A load on a server that Dyno did not start may drop tables that Dyno did not make, because the user allows
    /// it.
    MayDrop { system: &'a str, names: &'a [String] },
    /// Objects that remain in a running server's database after Dyno cleared it.
    Left { left: &'a Left },
    /// Systems are being started at the same time.
    Starting { systems: &'a [&'a str] },
    /// The tables of a fresh instance are being read.
    Warming { system: &'a str },
    /// A system could not be started. The run continues without it.
    NotStarted { not_started: &'a NotStarted },
    /// The systems were audited for comparability.
    Audited { audit: &'a Audit },
    /// Waiting for a system's pending writes.
    Draining {
        system: &'a str,
        /// Time since the wait began, in seconds.
        seconds: f64,
        amounts: &'a [DrainAmount],
    },
    /// A trial could not be written to the results file, because the file is locked or the disk is full. Dyno tries
    /// again.
    NotCommitted { error: &'a StoreError },
    /// A trial's load is repeated without measurement, while the stacks of its server are sampled.
    SamplingStacks { system: &'a str, step: &'a Step },
    /// Stacks could not be sampled: of a system in a step, or of any system.
    StacksNotSampled { system: Option<&'a str>, reason: &'a str },
    /// A system is crashed under load after the rounds.
    Crashing {
        system: &'a str,
        /// Number of checked crashes.
        checked: u32,
        /// Number of planned crashes.
        crashes: u32,
    },
    /// A disturbed step is rerun.
    Rerunning { step: &'a Step, clients: u32 },
    /// A round begins: every system gets a fresh instance.
    RoundStarted {
        /// The number of the round, from 0.
        round: u32,
        /// Number of rounds, as far as known.
        of: u32,
    },
    /// Tests are no longer measured, because a look found them decided or out of reach.
    TestsLeft {
        /// Number of such tests.
        tests: usize,
        /// Number of tests that were measured so far.
        of: usize,
    },
    /// A time budget was divided.
    Allocated {
        /// Estimated number of rounds.
        rounds: u32,
        /// Measured time of each further trial.
        seconds_per_trial: f64,
    },
    /// The systems of a block begin to take turns.
    SlicesStarted {
        /// The trial of the first system.
        trial: TrialLabel<'a>,
        systems: usize,
        /// The next trials, as far as known.
        next: &'a [TrialLabel<'a>],
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
    /// A trial without slices begins.
    TrialStarted {
        trial: TrialLabel<'a>,
        /// The next trials, as far as known. Loads of kept data are skipped.
        next: &'a [TrialLabel<'a>],
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
    /// Progress of a trial, about once a second.
    Ticked {
        trial: TrialLabel<'a>,
        /// Rate and latency in that second.
        pace: Pace,
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
    /// A trial was committed.
    TrialEnded {
        trial: TrialLabel<'a>,
        outcome: &'a Outcome,
        /// Its rate, if anything was measured.
        operations_per_second: Option<f64>,
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
}

/// Rate and latency of one second of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Operations per second, of the kind that its step counts.
    pub operations_per_second: f64,
    /// Latency of its events, if any event ended.
    pub latency: Option<LatencyNow>,
}

/// Percentiles of the events that ended in a second, in µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyNow {
    /// Median.
    pub p50_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
}

/// A trial, for observers.
#[derive(Clone, Copy, Debug)]
pub struct TrialLabel<'a> {
    /// Number of trials that ended before it.
    pub position: usize,
    /// Number of trials of the run, as far as known.
    pub of: usize,
    pub system: &'a str,
    pub step: &'a Step,
    pub clients: u32,
    /// The round, from 0.
    pub round: u32,
}
