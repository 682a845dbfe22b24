//! How long a run has still to go.

use crate::plan::{Command, Plan};
use crate::schedule::{Trial, schedule};

/// What a load is taken to do before one was seen.
const LOADED_ROWS_PER_SECOND: f64 = 20_000.0;
/// What a trial takes beyond its warm-up and measured time before one was seen: connecting, committing.
const OVERHEAD_SECONDS: f64 = 0.1;

impl Plan {
    /// About how long a run of the plan measures, in seconds; fetching and starting engines comes on top.
    pub fn expected_seconds(&self) -> f64 {
        Forecast::new(self, &schedule(self, 0)).seconds_left(0, 0.0)
    }
}

/// Expected length of trials: as planned, until one of the same step has ended.
#[derive(Debug)]
pub(crate) struct Forecast {
    /// For each trial in order, its step.
    steps: Vec<usize>,
    /// For each step, what a trial is expected to take.
    planned_seconds: Vec<f64>,
    /// For each step, the trials that ended and the time that they took together.
    seen: Vec<(u32, f64)>,
}

impl Forecast {
    pub(crate) fn new(plan: &Plan, trials: &[Trial]) -> Self {
        let rows = plan.data.map_or(0.0, |data| f64::from(data.tables) * data.rows as f64);
        let planned_seconds = plan.steps.iter().map(|step| match step.command {
            Command::Prepare => OVERHEAD_SECONDS + rows / LOADED_ROWS_PER_SECOND,
            Command::Run => step.warmup_seconds + step.seconds + OVERHEAD_SECONDS,
        });
        Self {
            steps: trials.iter().map(|trial| trial.step).collect(),
            planned_seconds: planned_seconds.collect(),
            seen: vec![(0, 0.0); plan.steps.len()],
        }
    }

    /// Notes that a trial took so long.
    pub(crate) fn ended(&mut self, position: usize, seconds: f64) {
        let (trials, total) = &mut self.seen[self.steps[position]];
        *trials += 1;
        *total += seconds;
    }

    /// Time until the run's end, `elapsed_seconds` into the trial at `position`.
    pub(crate) fn seconds_left(&self, position: usize, elapsed_seconds: f64) -> f64 {
        let mut trials = self.steps[position..].iter().map(|&step| self.expected_seconds(step));
        let current = trials.next().unwrap_or(0.0);
        (current - elapsed_seconds).max(0.0) + trials.sum::<f64>()
    }

    fn expected_seconds(&self, step: usize) -> f64 {
        match self.seen[step] {
            (0, _) => self.planned_seconds[step],
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
        let forecast = Forecast::new(&plan, &schedule(&plan, 1));
        let expected = 24.0 * (0.1 + 0.01) + 24.0 * (2.0 + 0.5 + 0.1);
        assert!((forecast.seconds_left(0, 0.0) - expected).abs() < 1e-9);
        assert!((plan.expected_seconds() - expected).abs() < 1e-9);
        assert!((forecast.seconds_left(47, 1.0) - (2.5 + OVERHEAD_SECONDS - 1.0)).abs() < 1e-9);
    }

    #[test]
    fn what_was_seen_of_a_step_replaces_the_plan() {
        let plan = plan();
        let mut forecast = Forecast::new(&plan, &schedule(&plan, 1));
        forecast.ended(0, 10.0);
        forecast.ended(1, 20.0);
        let runs = 24.0 * (2.5 + OVERHEAD_SECONDS);
        assert!((forecast.seconds_left(2, 0.0) - (22.0 * 15.0 + runs)).abs() < 1e-9);
    }

    #[test]
    fn a_trial_that_takes_longer_than_expected_is_about_to_end() {
        let plan = plan();
        let forecast = Forecast::new(&plan, &schedule(&plan, 1));
        assert!(forecast.seconds_left(47, 100.0).abs() < 1e-9);
    }
}
