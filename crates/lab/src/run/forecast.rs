//! How long a run has still to go.

use crate::plan::{Command, Plan};
use crate::schedule::blocks;

/// What a load is taken to do before one was seen.
const LOADED_ROWS_PER_SECOND: f64 = 20_000.0;
/// What a trial takes beyond its warm-up and measured time before one was seen: connecting, committing.
const OVERHEAD_SECONDS: f64 = 0.1;

impl Plan {
    /// About how long a run of the plan measures, in seconds; fetching and starting engines comes on top. One
    /// that goes on until it has decided takes at least so long.
    pub fn expected_seconds(&self) -> f64 {
        Forecast::new(self, self.systems.len()).seconds_left()
    }

    /// About how long a trial of a step takes, in seconds.
    pub(crate) fn expected_trial_seconds(&self, step: usize) -> f64 {
        let step = &self.steps[step];
        OVERHEAD_SECONDS
            + match step.command {
                Command::Prepare => {
                    self.data.map_or(0.0, |data| data.rows_total() as f64 / LOADED_ROWS_PER_SECOND)
                }
                Command::Run => step.warmup_seconds + step.seconds,
            }
    }
}

/// Expected length of trials: as planned, until one of the same step has ended.
#[derive(Debug)]
pub(crate) struct Forecast {
    steps: Vec<StepForecast>,
}

#[derive(Debug)]
struct StepForecast {
    trials_left: usize,
    planned_seconds: f64,
    /// Trials that ended and the time that they took together.
    seen: (u32, f64),
}

impl Forecast {
    /// What a plan takes with so many systems: those that did not start take no time.
    pub(crate) fn new(plan: &Plan, systems: usize) -> Self {
        let steps = (0..plan.steps.len()).map(|step| StepForecast {
            trials_left: blocks(plan).iter().filter(|block| block.step == step).count()
                * systems
                * plan.trials.min() as usize,
            planned_seconds: plan.expected_trial_seconds(step),
            seen: (0, 0.0),
        });
        Self { steps: steps.collect() }
    }

    /// Trials that are still to come.
    pub(crate) fn trials_left(&self) -> usize {
        self.steps.iter().map(|step| step.trials_left).sum()
    }

    /// A step gets so many more trials than was known.
    pub(crate) fn add(&mut self, step: usize, trials: usize) {
        self.steps[step].trials_left += trials;
    }

    /// A trial of a step need not be run.
    pub(crate) fn skipped(&mut self, step: usize) {
        let left = &mut self.steps[step].trials_left;
        *left = left.saturating_sub(1);
    }

    /// Notes that a trial of a step took so long.
    pub(crate) fn ended(&mut self, step: usize, seconds: f64) {
        self.skipped(step);
        let (trials, total) = &mut self.steps[step].seen;
        *trials += 1;
        *total += seconds;
    }

    /// Time until the run's end.
    pub(crate) fn seconds_left(&self) -> f64 {
        self.steps.iter().map(|step| step.trials_left as f64 * step.expected_seconds()).sum()
    }

    /// The same, so long into a trial of a step.
    pub(crate) fn seconds_left_during(&self, step: usize, elapsed_seconds: f64) -> f64 {
        self.seconds_left() - elapsed_seconds.min(self.steps[step].expected_seconds())
    }
}

impl StepForecast {
    fn expected_seconds(&self) -> f64 {
        match self.seen {
            (0, _) => self.planned_seconds,
            (trials, total) => total / f64::from(trials),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::plan;

    #[test]
    fn before_anything_is_seen_the_plan_counts() {
        let plan = plan();
        let mut forecast = Forecast::new(&plan, 3);
        let expected = 24.0 * (0.1 + 0.01) + 24.0 * (2.0 + 0.5 + 0.1);
        assert_eq!(forecast.trials_left(), 48);
        assert!((forecast.seconds_left() - expected).abs() < 1e-9);
        assert!((plan.expected_seconds() - expected).abs() < 1e-9);
        assert!((forecast.seconds_left_during(1, 1.0) - (expected - 1.0)).abs() < 1e-9);
        forecast.add(1, 3);
        forecast.skipped(1);
        assert!((forecast.seconds_left() - (expected + 2.0 * 2.6)).abs() < 1e-9);
    }

    #[test]
    fn what_was_seen_of_a_step_replaces_the_plan() {
        let plan = plan();
        let mut forecast = Forecast::new(&plan, 3);
        forecast.ended(0, 10.0);
        forecast.ended(0, 20.0);
        let runs = 24.0 * (2.5 + OVERHEAD_SECONDS);
        assert!((forecast.seconds_left() - (22.0 * 15.0 + runs)).abs() < 1e-9);
    }

    #[test]
    fn a_trial_that_takes_longer_than_expected_is_about_to_end() {
        let mut forecast = Forecast::new(&plan(), 3);
        for _ in 0..24 {
            forecast.skipped(0);
        }
        for _ in 0..23 {
            forecast.skipped(1);
        }
        assert!(forecast.seconds_left_during(1, 100.0).abs() < 1e-9);
    }
}
