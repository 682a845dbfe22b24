//! Shows a run's progress without a terminal: one line per trial.

use dyno_lab::{Event, Observer};
use dyno_store::Outcome;

use super::{Fetching, words};
use crate::output;

/// Prints a line for each event.
#[derive(Default)]
pub(super) struct Lines {
    fetching: Fetching,
}

impl Observer for Lines {
    fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::Fetching { entry, progress } => self.fetching.show(entry, progress),
            Event::Starting { systems } => output::tell(&format!("starting {}", systems.join(", "))),
            Event::Resumed { run, differences } => {
                for line in words::resumed(*run, differences) {
                    output::tell(&line);
                }
            }
            Event::Loading { system, step } => output::tell(&words::loading(system, step)),
            Event::GivingData { system, how } => output::tell(&words::giving_data(system, how)),
            Event::Restoring { system } => output::tell(&words::restoring(system)),
            Event::NotCommitted { error } => output::warn(&words::not_committed(error)),
            Event::NotKept { system, reason } => output::warn(&words::not_kept(system, reason)),
            Event::MayDrop { system, names } => output::warn(&words::may_drop(system, names)),
            Event::Left { left } => output::warn(&words::left(left)),
            Event::SamplingStacks { system, step } => output::tell(&words::sampling_stacks(system, step)),
            Event::Crashing { system, checked: 0, crashes } => {
                output::tell(&words::crashing(system, 0, *crashes));
            }
            Event::StacksNotSampled { system, reason } => {
                output::warn(&words::stacks_not_sampled(*system, reason));
            }
            Event::RoundStarted { round, of } => output::tell(&words::round(*round, *of)),
            Event::Allocated { rounds, seconds_per_trial } => {
                output::tell(&words::allocated(*rounds, *seconds_per_trial));
            }
            Event::TestsLeft { tests, of } => output::tell(&words::tests_left(*tests, *of)),
            Event::Rerunning { step, clients, by } => output::tell(&words::rerunning(step, *clients, *by)),
            Event::NotStarted { not_started } => output::warn(&words::not_started(not_started)),
            Event::Audited { audit } => words::audit(audit).iter().for_each(|line| output::warn(line)),
            Event::Crashing { .. }
            | Event::Draining { .. }
            | Event::Warming { .. }
            | Event::TrialStarted { .. }
            | Event::SlicesStarted { .. }
            | Event::Ticked { .. } => {}
            Event::TrialEnded { trial, outcome, operations_per_second, seconds_left } => {
                let (say, result): (fn(&str), _) = match (outcome, operations_per_second) {
                    (Outcome::Failed { message, .. }, _) => (output::warn, format!("failed: {message}")),
                    (Outcome::Completed, Some(rate)) => {
                        (output::tell, words::rate(*rate, trial.step.operation))
                    }
                    (Outcome::Completed, None) => (output::tell, "nothing measured".to_owned()),
                };
                let (number, of) = (trial.position + 1, trial.of);
                let left = words::time_left(*seconds_left);
                say(&format!("[{number}/{of}] {}: {result} ({left})", words::trial(trial)));
            }
        }
    }
}
