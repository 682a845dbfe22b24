//! Shows a run's progress on a terminal.

use dyno_lab::{Event, Observer, TrialLabel};
use dyno_printable::printable;
use dyno_store::Outcome;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Fetching, words};

/// Shows a run's progress with one bar at a time: a bar for a fetch, then a bar for the trials.
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
                self.status(&format!("starting {}", systems.join(", ")));
            }
            Event::Resumed { run, differences } => {
                for line in words::resumed(*run, differences) {
                    self.say(&line);
                }
            }
            Event::Loading { system, step } => self.status(&words::loading(system, step)),
            Event::GivingData { system, how } => self.status(&words::giving_data(system, how)),
            Event::Restoring { system } => self.status(&words::restoring(system)),
            Event::NotCommitted { error } => self.say(&words::not_committed(error)),
            Event::NotKept { system, reason } => self.say(&words::not_kept(system, reason)),
            Event::MayDrop { system, names } => self.say(&words::may_drop(system, names)),
            Event::Left { left } => self.say(&words::left(left)),
            Event::SamplingStacks { system, step } => {
                self.status(&words::sampling_stacks(system, step));
            }
            Event::Crashing { system, checked, crashes } => {
                self.status(&words::crashing(system, *checked, *crashes));
            }
            Event::StacksNotSampled { system, reason } => {
                self.say(&words::stacks_not_sampled(*system, reason));
            }
            Event::Warming { system } => self.status(&format!("reading the tables of {system}")),
            Event::RoundStarted { round, of } => self.status(&words::round(*round, *of)),
            Event::Allocated { rounds, seconds_per_trial } => {
                self.say(&words::allocated(*rounds, *seconds_per_trial));
            }
            Event::SlicesStarted { trial, systems, seconds_left, .. } => {
                self.show(trial, *seconds_left, &words::slices(trial, *systems));
            }
            Event::TestsLeft { tests, of } => self.say(&words::tests_left(*tests, *of)),
            Event::Rerunning { step, clients, by } => self.say(&words::rerunning(step, *clients, *by)),
            Event::NotStarted { not_started } => self.say(&words::not_started(not_started)),
            Event::Audited { audit } => words::audit(audit).iter().for_each(|line| self.say(line)),
            Event::Draining { system, seconds, amounts } => {
                self.status(&words::draining(system, *seconds, amounts));
            }
            Event::TrialStarted { trial, seconds_left, .. } => {
                self.show(trial, *seconds_left, &words::trial(trial));
            }
            Event::Ticked { trial, pace, seconds_left } => {
                let rate = words::rate(pace.operations_per_second, trial.step.operation);
                self.show(trial, *seconds_left, &format!("{} · {rate}", words::trial(trial)));
            }
            Event::TrialEnded { trial, outcome, .. } => {
                self.bar().set_position(trial.position as u64 + 1);
                if let Outcome::Failed { message, .. } = outcome {
                    self.say(&format!("{}: failed: {message}", words::trial(trial)));
                }
            }
        }
    }
}

impl Bars {
    fn show(&mut self, trial: &TrialLabel<'_>, seconds_left: f64, message: &str) {
        let trials = trial.of as u64;
        let bar = self.bar();
        if bar.length() != Some(trials) {
            bar.set_style(style("{bar:24} {pos}/{len}  {prefix}  {wide_msg}"));
            bar.set_length(trials);
        }
        bar.set_prefix(words::time_left(seconds_left));
        bar.set_message(printable(message).into_owned());
    }

    /// Shows the current activity.
    fn status(&mut self, words: &str) {
        self.bar().set_message(printable(words).into_owned());
    }

    /// Prints a permanent line above the bar.
    fn say(&mut self, line: &str) {
        self.bar().println(printable(line));
    }

    /// The run's progress bar. It shows only text until the first trial.
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
