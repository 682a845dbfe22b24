//! Workloads that run while the trial's own workload is measured.

use std::time::{Duration, Instant};

use dyno_load::{Counts, Frame, FrameSource as _, Latency, LoadProcess, Tick};
use dyno_store::{Measured, Outcome, Phase, SampleRecord, TrialRecord, Usage};

use crate::job;
use crate::plan::Background;
use crate::run::record::{counts, latency_record};
use crate::run::system::RunningSystem;
use crate::run::trial::planned::PlannedTrial;
use crate::run::trial::watch::TrialAbort;

/// How long to wait until the last second of a background load has ended.
const LAST_SECOND_PATIENCE: Duration = Duration::from_secs(2);

/// The background loads of a trial. They end when this value is dropped.
pub(crate) struct BackgroundLoads<'a> {
    loads: Vec<BackgroundLoad<'a>>,
    /// Whether the loads whose clients join later have received the signal that the trial's own measurement has
    /// begun.
    are_told: bool,
}

struct BackgroundLoad<'a> {
    workload: &'a Background,
    /// The load's step id in the results file.
    id: String,
    process: LoadProcess,
    /// The tick of each second, and when that second ended.
    ticks: Vec<(Instant, Tick)>,
}

impl<'a> BackgroundLoads<'a> {
    /// Starts all background loads. Waits until each load has finished its warm-up. A load whose clients join later
    /// only has to be connected.
    pub(crate) fn start(trial: &PlannedTrial<'a>, system: &dyn RunningSystem) -> Result<Self, TrialAbort> {
        let step = trial.step();
        let start = |workload: &'a Background| {
            let job = job::background(trial.plan, trial.trial, workload, system.target_at(workload.endpoint));
            let id = step.background_id(workload);
            let named = |abort| match abort {
                TrialAbort::Failed { message, .. } => failed(&id, &message),
                abort => abort,
            };
            let mut process = trial.start_load(&job).map_err(named)?;
            let is_ready: fn(&Frame) -> bool = match workload.joins.as_slice() {
                [] => |frame| matches!(frame, Frame::Measuring),
                [_, ..] => |frame| matches!(frame, Frame::Connected(_)),
            };
            trial.watch().until(&mut process, is_ready).map_err(named)?;
            Ok::<_, TrialAbort>(BackgroundLoad { workload, id, process, ticks: Vec::new() })
        };
        let loads = step.background.iter().map(start).collect::<Result<_, _>>()?;
        Ok(Self { loads, are_told: false })
    }

    /// Receives the frames that have arrived. When the trial's own measurement begins, starts the clock of the
    /// loads whose clients join later. Returns an error if a background load has ended.
    pub(crate) fn keep_up(&mut self, is_measuring: bool) -> Result<(), TrialAbort> {
        if is_measuring && !std::mem::replace(&mut self.are_told, true) {
            for load in self.loads.iter_mut().filter(|load| load.has_joins()) {
                load.process.order_measuring().map_err(|error| failed(&load.id, &error))?;
            }
        }
        self.loads.iter_mut().try_for_each(|load| load.receive(Duration::ZERO))
    }

    /// Ends the background loads and records them. For each load, records the seconds that ended later than the moment
    /// `from`, and no later than the moment `to`. If clients of a load join later, its first `seconds` seconds are
    /// recorded instead, because the trial's own workload has as many seconds.
    pub(crate) fn finish(
        self,
        trial: &TrialRecord,
        (from, to): (Instant, Instant),
        seconds: usize,
    ) -> Vec<TrialRecord> {
        let within = |(at, tick): (Instant, Tick)| (from < at && at <= to).then_some(tick);
        let record = |mut load: BackgroundLoad<'_>| {
            let ticks: Vec<Tick> = if load.has_joins() {
                load.wait_for_second(seconds);
                load.ticks.into_iter().map(|(_, tick)| tick).take(seconds).collect()
            } else {
                load.ticks.into_iter().filter_map(within).collect()
            };
            let begun = TrialRecord { step_id: load.id, ..trial.clone() };
            recorded(begun, load.workload, &ticks)
        };
        self.loads.into_iter().map(record).collect()
    }
}

impl BackgroundLoad<'_> {
    fn has_joins(&self) -> bool {
        !self.workload.joins.is_empty()
    }

    /// Waits for a frame for at most `patience`, and receives all frames that have arrived.
    fn receive(&mut self, mut patience: Duration) -> Result<(), TrialAbort> {
        while let Some((at, frame)) =
            self.process.next_frame(patience).map_err(|error| failed(&self.id, &error))?
        {
            match frame {
                Frame::Tick(tick) => self.ticks.push((at, tick)),
                Frame::Failed { message, .. } => return Err(failed(&self.id, &message)),
                Frame::Finished(_) => return Err(failed(&self.id, &"it ended by itself")),
                _ => {}
            }
            patience = Duration::ZERO;
        }
        Ok(())
    }

    /// Waits until the load has run for `number` seconds. The background load began slightly later than the trial's own
    /// workload, so its last second also ends slightly later.
    fn wait_for_second(&mut self, number: usize) {
        let until = Instant::now() + LAST_SECOND_PATIENCE;
        while self.ticks.len() < number && Instant::now() < until {
            // If the load has ended, the seconds so far are kept.
            if self.receive(until.saturating_duration_since(Instant::now())).is_err() {
                return;
            }
        }
    }
}

fn failed(id: &str, reason: &dyn std::fmt::Display) -> TrialAbort {
    TrialAbort::failed(format!("background load {id}: {reason}"))
}

/// Makes the record of a background load from its ticks. The server's CPU time and I/O are left out, because it is not
/// known which part of them the background load caused and which part the trial's own workload.
fn recorded(begun: TrialRecord, workload: &Background, ticks: &[Tick]) -> TrialRecord {
    let usage = |ticks: &[Tick]| Usage {
        client_user_cpu_us: Some(ticks.iter().map(|tick| tick.usage.user_us).sum()),
        client_system_cpu_us: Some(ticks.iter().map(|tick| tick.usage.system_us).sum()),
        client_context_switches: Some(ticks.iter().map(|tick| tick.usage.context_switches).sum()),
        ..Usage::default()
    };
    let measured = |ticks: &[Tick]| {
        let (mut done, mut latency) = (Counts::default(), Latency::default());
        for tick in ticks {
            done += tick.counts;
            latency.merge(&tick.latency);
        }
        Measured {
            seconds: ticks.iter().map(|tick| tick.seconds).sum(),
            counts: counts(&done, workload.operation),
            due: ticks.iter().filter_map(|tick| tick.due).reduce(u64::saturating_add),
            latency: latency_record(&latency),
        }
    };
    let sample = |(number, tick): (usize, &Tick)| SampleRecord {
        number: number as u32,
        phase: Phase::Measure,
        measured: measured(std::slice::from_ref(tick)),
        usage: usage(std::slice::from_ref(tick)),
    };
    if ticks.is_empty() {
        let message = "was measured for less than a second".to_owned();
        return TrialRecord { outcome: Outcome::failed(message), ..begun };
    }
    TrialRecord {
        measured: Some(measured(ticks)),
        usage: usage(ticks),
        backlog: ticks.last().filter(|tick| tick.due.is_some()).map(|tick| tick.backlog),
        samples: ticks.iter().enumerate().map(sample).collect(),
        ..begun
    }
}
