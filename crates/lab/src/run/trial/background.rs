//! Workloads that run all the time while a trial's own is measured.

use std::time::{Duration, Instant};

use dyno_load::{Counts, Frame, Latency, LoadProcess, Target, Tick};
use dyno_store::{Measured, Outcome, Phase, SampleRecord, TrialRecord, Usage};

use super::planned::PlannedTrial;
use super::watch::TrialAbort;
use crate::job;
use crate::plan::Background;
use crate::run::record::counts;

/// The background loads of a trial. Dropping it ends them.
pub(crate) struct BackgroundLoads<'a>(Vec<BackgroundLoad<'a>>);

struct BackgroundLoad<'a> {
    workload: &'a Background,
    /// Its step id in the results file.
    id: String,
    process: LoadProcess,
    /// Each second with the time at which it ended.
    ticks: Vec<(Instant, Tick)>,
}

impl<'a> BackgroundLoads<'a> {
    /// Starts all of them, and waits until each is past its warm-up.
    pub(crate) fn start(trial: &PlannedTrial<'a>, target: &Target) -> Result<Self, TrialAbort> {
        let step = trial.step();
        let start = |workload: &'a Background| {
            let job = job::background(trial.plan, trial.trial, workload, target.clone());
            let id = step.background_id(workload);
            let named = |abort| match abort {
                TrialAbort::Failed { message, .. } => failed(&id, &message),
                abort => abort,
            };
            let mut process = trial.start_load(&job).map_err(named)?;
            trial.watch().until_measuring(&mut process).map_err(named)?;
            Ok(BackgroundLoad { workload, id, process, ticks: Vec::new() })
        };
        step.background.iter().map(start).collect::<Result<_, _>>().map(Self)
    }

    /// Receives the frames that have arrived. An error if a background load has ended.
    pub(crate) fn receive(&mut self) -> Result<(), TrialAbort> {
        for BackgroundLoad { id, process, ticks, .. } in &mut self.0 {
            while let Some((at, frame)) =
                process.next_frame(Duration::ZERO).map_err(|error| failed(id, &error))?
            {
                match frame {
                    Frame::Tick(tick) => ticks.push((at, tick)),
                    Frame::Failed { message, .. } => return Err(failed(id, &message)),
                    Frame::Finished(_) => return Err(failed(id, &"it ended by itself")),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Ends them, and records the seconds of each that lie between two moments.
    pub(crate) fn finish(self, trial: &TrialRecord, from: Instant, to: Instant) -> Vec<TrialRecord> {
        let within = |(at, tick): (Instant, Tick)| (from < at && at <= to).then_some(tick);
        let record = |load: BackgroundLoad<'_>| {
            let ticks: Vec<Tick> = load.ticks.into_iter().filter_map(within).collect();
            let begun = TrialRecord { step_id: load.id, ..trial.clone() };
            recorded(begun, load.workload, &ticks)
        };
        self.0.into_iter().map(record).collect()
    }
}

fn failed(id: &str, reason: &dyn std::fmt::Display) -> TrialAbort {
    TrialAbort::failed(format!("background load {id}: {reason}"))
}

/// A trial made of ticks. The server's CPU and I/O are shared with the trial's own workload, so they are not known.
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
            latency: latency.to_bytes(),
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
        return TrialRecord { outcome: Outcome::Failed { message, log_tail: String::new() }, ..begun };
    }
    TrialRecord {
        measured: Some(measured(ticks)),
        usage: usage(ticks),
        samples: ticks.iter().enumerate().map(sample).collect(),
        ..begun
    }
}
