//! A run's progress on a terminal.

use dyno_lab::{Event, Observer, TrialLabel};
use dyno_store::Outcome;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Fetching, words};

/// One bar at a time: a fetch, then the run's trials.
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
            Event::Starting { system } => {
                self.fetching = None;
                self.bar(0).set_message(format!("starting {system}"));
                self.bar(0).tick();
            }
            Event::TrialStarted { trial, seconds_left } => {
                self.show(trial, &[words::trial(trial), words::time_left(*seconds_left)]);
            }
            Event::Ticked { trial, operations_per_second, seconds_left } => {
                let rate = words::rate(*operations_per_second, trial.step.operation);
                self.show(trial, &[words::trial(trial), rate, words::time_left(*seconds_left)]);
            }
            Event::TrialEnded { trial, outcome, .. } => {
                let bar = self.bar(trial.of);
                bar.set_position(trial.position as u64 + 1);
                if let Outcome::Failed { message, .. } = outcome {
                    bar.println(format!("{}: failed: {message}", words::trial(trial)));
                }
            }
        }
    }
}

impl Bars {
    fn show(&mut self, trial: &TrialLabel<'_>, parts: &[String]) {
        let bar = self.bar(trial.of);
        bar.set_length(trial.of as u64);
        bar.set_message(parts.join(" · "));
        bar.tick();
    }

    fn bar(&mut self, trials: usize) -> &ProgressBar {
        self.trials.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {wide_msg}");
            let bar = ProgressBar::new(trials as u64);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        })
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        if let Some(bar) = &self.trials {
            bar.finish_and_clear();
        }
    }
}
