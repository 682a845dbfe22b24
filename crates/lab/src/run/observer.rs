//! Progress of a run, for observers.

use dyno_engine::{DrainAmount, Entry, Progress};
use dyno_settings::Audit;
use dyno_store::{Outcome, RunId};

use super::not_started::NotStarted;
use crate::plan::Step;

/// Watches a run.
pub trait Observer {
    /// Something happened. Called in the run's own thread, between measurements: be quick.
    fn observe(&mut self, event: &Event<'_>);
}

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A part of an engine arrived.
    Fetching {
        /// The engine.
        entry: &'a Entry,
        /// How far it is.
        progress: Progress,
    },
    /// An earlier run is taken up.
    Resumed {
        /// Its number.
        run: RunId,
        /// What is another on this host since, a sentence each.
        differences: &'a [String],
    },
    /// Tables are loaded that an earlier trial had loaded.
    Loading {
        /// The system.
        system: &'a str,
        /// The load.
        step: &'a Step,
    },
    /// A system is started anew on data that was kept.
    Restoring {
        /// The system.
        system: &'a str,
    },
    /// A system's loaded data could not be kept; it will be loaded again.
    NotKept {
        /// The system.
        system: &'a str,
        /// Why not.
        reason: &'a str,
    },
    /// A system's server is being started.
    Starting {
        /// The system.
        system: &'a str,
    },
    /// The tables of a fresh instance are read.
    Warming {
        /// The system.
        system: &'a str,
    },
    /// A system cannot be had; the run goes on without it.
    NotStarted {
        /// Which, and why.
        not_started: &'a NotStarted,
    },
    /// The systems are up, and were held against each other.
    Audited {
        /// What was found.
        audit: &'a Audit,
    },
    /// A system's pending writes are waited for.
    Draining {
        /// The system.
        system: &'a str,
        /// Since the waiting began.
        seconds: f64,
        /// What is left.
        amounts: &'a [DrainAmount],
    },
    /// Other processes used the CPU while a step was measured, which is measured again.
    Rerunning {
        /// The step.
        step: &'a Step,
        /// Connections.
        clients: u32,
    },
    /// A round begins: every system gets a fresh instance.
    RoundStarted {
        /// Its number, from 0.
        round: u32,
        /// How many rounds the run has, as far as is known.
        of: u32,
    },
    /// A time budget was divided.
    Allocated {
        /// Rounds in all, about.
        rounds: u32,
        /// Measured time of each trial from here on.
        seconds_per_trial: f64,
    },
    /// All systems of a step begin to take turns in slices.
    SlicesStarted {
        /// The trial of the first of them.
        trial: TrialLabel<'a>,
        /// How many systems.
        systems: usize,
        /// The trials of the next step, as far as is known.
        next: &'a [TrialLabel<'a>],
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
    /// A trial in one stretch began.
    TrialStarted {
        /// Which.
        trial: TrialLabel<'a>,
        /// The next ones, as far as is known; a load among them is left out if its data was kept.
        next: &'a [TrialLabel<'a>],
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
    /// About a second of a trial was measured.
    Ticked {
        /// Which trial.
        trial: TrialLabel<'a>,
        /// What it did in that second.
        pace: Pace,
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
    /// A trial is in the results file.
    TrialEnded {
        /// Which.
        trial: TrialLabel<'a>,
        /// How it ended.
        outcome: &'a Outcome,
        /// Its rate; none if nothing was measured.
        operations_per_second: Option<f64>,
        /// Estimated time until the run's end.
        seconds_left: f64,
    },
}

/// What a trial did in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Operations, as its step counts them.
    pub operations_per_second: f64,
    /// How long its events took; none if no event ended.
    pub latency: Option<LatencyNow>,
}

/// Percentiles of the events that ended in a second, in µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyNow {
    /// Half of the events took no longer.
    pub p50_us: u64,
    /// 95% took no longer.
    pub p95_us: u64,
    /// 99% took no longer.
    pub p99_us: u64,
}

/// Which trial of a run.
#[derive(Clone, Copy, Debug)]
pub struct TrialLabel<'a> {
    /// How many trials of the run have ended before.
    pub position: usize,
    /// How many trials the run has, as far as is known.
    pub of: usize,
    /// The system's id.
    pub system: &'a str,
    /// The step.
    pub step: &'a Step,
    /// Connections.
    pub clients: u32,
    /// Which round, from 0.
    pub round: u32,
}
