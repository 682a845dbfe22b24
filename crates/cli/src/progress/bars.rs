//! A run's progress on a terminal.

use dyno_lab::{Event, Observer, TrialLabel};
use dyno_store::Outcome;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Fetching, words};

/// Shows one progress bar at a time: a fetch, then the run's trials.
#[derive(Default)]
pub(super) struct Bars {
    fetching: Option<Fetching>,
    trials: Option<ProgressBar>,
}

impl Observer for Bars {
    fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::Fetching { entry, progress } => {
                self.fetching.get_or_insert_with(Fetching::default).show(entry, progress);
            }
            Event::Starting { systems } => {
                self.fetching = None;
                self.bar().set_message(format!("starting {}", systems.join(", ")));
            }
            Event::Resumed { run, differences } => {
                self.bar().println(words::resumed(*run, differences));
            }
            Event::Loading { system, step } => {
                self.bar().set_message(words::loading(system, step));
            }
            Event::Restoring { system } => self.bar().set_message(words::restoring(system)),
            Event::NotCommitted { error } => self.bar().println(words::not_committed(error)),
            Event::NotKept { system, reason } => self.bar().println(words::not_kept(system, reason)),
            Event::SamplingStacks { system, step } => {
                self.bar().set_message(words::sampling_stacks(system, step));
            }
            Event::Crashing { system, checked, crashes } => {
                self.bar().set_message(words::crashing(system, *checked, *crashes));
            }
            Event::StacksNotSampled { system, reason } => {
                self.bar().println(words::stacks_not_sampled(*system, reason));
            }
            Event::Warming { system } => self.bar().set_message(format!("reading the tables of {system}")),
            Event::RoundStarted { round, of } => self.bar().set_message(words::round(*round, *of)),
            Event::Allocated { rounds, seconds_per_trial } => {
                self.bar().println(words::allocated(*rounds, *seconds_per_trial));
            }
            Event::SlicesStarted { trial, systems, seconds_left, .. } => {
                self.show(trial, *seconds_left, words::slices(trial, *systems));
            }
            Event::Rerunning { step, clients } => self.bar().println(words::rerunning(step, *clients)),
            Event::NotStarted { not_started } => self.bar().println(words::not_started(not_started)),
            Event::Audited { audit } => {
                for line in words::audit(audit) {
                    self.bar().println(line);
                }
            }
            Event::Draining { system, seconds, amounts } => {
                self.bar().set_message(words::draining(system, *seconds, amounts));
            }
            Event::TrialStarted { trial, seconds_left, .. } => {
                self.show(trial, *seconds_left, words::trial(trial));
            }
            Event::Ticked { trial, pace, seconds_left } => {
                let rate = words::rate(pace.operations_per_second, trial.step.operation);
                self.show(trial, *seconds_left, format!("{} · {rate}", words::trial(trial)));
            }
            Event::TrialEnded { trial, outcome, .. } => {
                self.bar().set_position(trial.position as u64 + 1);
                if let Outcome::Failed { message, .. } = outcome {
                    self.bar().println(format!("{}: failed: {message}", words::trial(trial)));
                }
            }
        }
    }
}

impl Bars {
    fn show(&mut self, trial: &TrialLabel<'_>, seconds_left: f64, message: String) {
        let trials = trial.of as u64;
        let bar = self.bar();
        if bar.length() != Some(trials) {
            bar.set_style(style("{bar:24} {pos}/{len}  {prefix}  {wide_msg}"));
            bar.set_length(trials);
        }
        bar.set_prefix(words::time_left(seconds_left));
        bar.set_message(message);
    }

    /// The run's progress: text while systems start, a bar once there are trials.
    fn bar(&mut self) -> &ProgressBar {
        self.trials.get_or_insert_with(|| ProgressBar::no_length().with_style(style("{wide_msg}")))
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Drop for Bars {
    fn drop(&mut self) {
        if let Some(bar) = &self.trials {
            bar.finish_and_clear();
        }
    }
}
