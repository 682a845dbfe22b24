//! Records a run's progress for `dyno serve`, in addition to the terminal.

use std::path::Path;

use dyno_lab::{Event, LatencyNow, Observer, TrialLabel};
use dyno_serve::{Live, LiveFile, LiveTrial, Seconds};
use dyno_store::Outcome;

use super::words;

/// Writes the run's progress to the live file and passes every event on.
pub(super) struct Recorded {
    inner: Box<dyn Observer>,
    file: LiveFile,
    live: Live,
}

impl Recorded {
    pub(super) fn new(inner: Box<dyn Observer>, results: &Path) -> Self {
        Self { inner, file: LiveFile::beside(results), live: Live::default() }
    }

    fn says(&mut self, words: String) {
        self.live.doing = None;
        self.live.seconds = Seconds::default();
        self.live.says = words;
    }

    fn record(&mut self, event: &Event<'_>) {
        match event {
            Event::Fetching { entry, .. } => self.says(format!("fetching {entry}")),
            Event::Starting { systems } => self.says(format!("starting {}", systems.join(", "))),
            Event::Loading { system, step } => self.says(format!("loading {} into {system}", step.id)),
            Event::GivingData { system, how } => self.says(words::giving_data(system, how)),
            Event::Restoring { system } => self.says(format!("restoring the data of {system}")),
            Event::Draining { system, seconds, .. } => {
                self.says(format!("waiting for the pending writes of {system}, {seconds:.0} s so far"));
            }
            Event::SamplingStacks { system, step } => self.says(words::sampling_stacks(system, step)),
            Event::Crashing { system, checked, crashes } => {
                self.says(words::crashing(system, *checked, *crashes));
            }
            Event::Warming { system } => self.says(format!("reading the tables of {system}")),
            Event::RoundStarted { round, of } => self.says(format!("beginning round {} of {of}", round + 1)),
            Event::TrialStarted { trial, next, seconds_left }
            | Event::SlicesStarted { trial, next, seconds_left, .. } => {
                self.live.begin(live_trial(trial), next.iter().map(live_trial).collect());
                self.stand(trial, 0, *seconds_left);
            }
            Event::Ticked { trial, pace, seconds_left } => {
                let us = |of: fn(&LatencyNow) -> u64| pace.latency.as_ref().map(of);
                let latency_us = [us(|now| now.p50_us), us(|now| now.p95_us), us(|now| now.p99_us)];
                self.live.seconds.push(pace.operations_per_second, latency_us);
                self.stand(trial, 0, *seconds_left);
            }
            Event::TrialEnded { trial, outcome, seconds_left, .. } => {
                self.live.failed += usize::from(matches!(outcome, Outcome::Failed { .. }));
                self.stand(trial, 1, *seconds_left);
            }
            Event::Resumed { .. }
            | Event::NotKept { .. }
            | Event::MayDrop { .. }
            | Event::Left { .. }
            | Event::StacksNotSampled { .. }
            | Event::NotCommitted { .. }
            | Event::NotStarted { .. }
            | Event::Allocated { .. }
            | Event::TestsLeft { .. }
            | Event::Rerunning { .. }
            | Event::Audited { .. } => return,
        }
        self.file.write(&self.live);
    }

    /// Updates the progress. The trials before `trial` have ended. `more` is 1 if `trial` itself has ended too, and
    /// 0 otherwise.
    fn stand(&mut self, trial: &TrialLabel<'_>, more: usize, seconds_left: f64) {
        self.live.ended = trial.position + more;
        self.live.of = trial.of;
        self.live.seconds_left = Some(seconds_left);
    }
}

impl Observer for Recorded {
    fn observe(&mut self, event: &Event<'_>) {
        self.record(event);
        self.inner.observe(event);
    }
}

fn live_trial(trial: &TrialLabel<'_>) -> LiveTrial {
    LiveTrial {
        step: trial.step.id.clone(),
        system: trial.system.to_owned(),
        clients: trial.clients,
        round: trial.round,
        operation: trial.step.operation.as_str().to_owned(),
    }
}
