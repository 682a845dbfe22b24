//! The events of a run, for observers that show progress.

use dyno_engine::{DrainAmount, Entry, Left, Progress};
use dyno_judge::Disturbance;
use dyno_settings::Audit;
use dyno_store::{Outcome, RunId, StoreError};

use super::not_started::NotStarted;
use crate::plan::Step;

pub trait Observer {
    /// Handles an event. This method is called on the run's thread, between measurements, so it must return quickly.
    fn observe(&mut self, event: &Event<'_>);
}

/// An event of a run, such as the start of a round.
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
        /// How the host has changed since the run began, in sentences.
        differences: &'a [String],
    },
    /// Tables are loaded again without measurement.
    Loading { system: &'a str, step: &'a Step },
    /// The data that a system starts with is being made. `how` describes how.
    GivingData { system: &'a str, how: &'a str },
    /// A system is restored from kept data.
    Restoring { system: &'a str },
    /// A system's loaded data could not be stored as a snapshot, so the data will be loaded again.
    NotKept { system: &'a str, reason: &'a str },
    /// A load on a server that Dyno did not start may drop the tables in `names`, which Dyno did not make. The user
    /// allowed this.
    MayDrop { system: &'a str, names: &'a [String] },
    /// Objects remain in the database of a running server after Dyno removed what it made.
    Left { left: &'a Left },
    /// Systems are being started at the same time.
    Starting { systems: &'a [&'a str] },
    /// The tables of a fresh instance are being read.
    Warming { system: &'a str },
    /// A system could not be started. The run continues without it.
    NotStarted { not_started: &'a NotStarted },
    /// The systems were audited for comparability.
    Audited { audit: &'a Audit },
    /// The run waits for a system's pending writes.
    Draining {
        system: &'a str,
        /// Time since the wait began, in seconds.
        seconds: f64,
        amounts: &'a [DrainAmount],
    },
    /// A trial could not be written to the results file, because the file is locked or the disk is full. Dyno tries
    /// again.
    NotCommitted { error: &'a StoreError },
    /// A trial's load is repeated without measurement, while the call stacks of the server are sampled.
    SamplingStacks { system: &'a str, step: &'a Step },
    /// Call stacks could not be sampled for a system, or for any system if `system` is `None`.
    StacksNotSampled { system: Option<&'a str>, reason: &'a str },
    /// After the rounds, a system is crashed under load.
    Crashing {
        system: &'a str,
        /// Number of crashes that have been checked.
        checked: u32,
        /// Number of planned crashes.
        crashes: u32,
    },
    /// A step is measured again, because neighbours (other processes or guests of the host) disturbed it.
    Rerunning {
        step: &'a Step,
        clients: u32,
        /// The largest shares of CPU time that neighbours used during a trial of the step.
        by: Disturbance,
    },
    /// A round begins. Every system that Dyno starts gets a fresh instance.
    RoundStarted {
        /// The number of the round, from 0.
        round: u32,
        /// Number of rounds that are planned for the run at present. Results may change this number later.
        of: u32,
    },
    /// Some tests are no longer measured. A look (an analysis between rounds) found that they are decided, or that they
    /// would probably not be decided within the run's time limit.
    TestsLeft {
        /// Number of tests that are no longer measured.
        tests: usize,
        /// Number of tests that were measured until now.
        of: usize,
    },
    /// The run's time budget was divided among rounds and trials.
    Allocated {
        /// Estimated number of rounds.
        rounds: u32,
        /// Measured time of each further trial, in seconds.
        seconds_per_trial: f64,
    },
    /// The systems of a block begin to take turns.
    SlicesStarted {
        /// The trial of the first system.
        trial: TrialLabel<'a>,
        systems: usize,
        /// The trials that follow in this round, but only the first few of them.
        next: &'a [TrialLabel<'a>],
        /// Estimated time until the end of the run, in seconds.
        seconds_left: f64,
    },
    /// A trial without slices begins.
    TrialStarted {
        trial: TrialLabel<'a>,
        /// The trials that follow in this round, but only the first few of them. Loads whose data is kept are left out.
        next: &'a [TrialLabel<'a>],
        /// Estimated time until the end of the run, in seconds.
        seconds_left: f64,
    },
    /// Progress of a trial, about once a second.
    Ticked {
        trial: TrialLabel<'a>,
        /// Rate and latency in that second.
        pace: Pace,
        /// Estimated time until the end of the run, in seconds.
        seconds_left: f64,
    },
    /// A trial was committed.
    TrialEnded {
        trial: TrialLabel<'a>,
        outcome: &'a Outcome,
        /// The trial's rate, if anything was measured.
        operations_per_second: Option<f64>,
        /// Estimated time until the end of the run, in seconds.
        seconds_left: f64,
    },
}

/// Rate and latency of one second of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Operations per second, of the kind that the trial's step counts.
    pub operations_per_second: f64,
    /// Latency in this second; `None` if no event ended.
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

/// Identifies a trial for observers.
#[derive(Clone, Copy, Debug)]
pub struct TrialLabel<'a> {
    /// Number of trials that ended before this one.
    pub position: usize,
    /// Number of trials that are planned for the run at present. Results may change this number later.
    pub of: usize,
    pub system: &'a str,
    pub step: &'a Step,
    pub clients: u32,
    /// The round, from 0.
    pub round: u32,
}
