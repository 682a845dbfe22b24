//! Forecasts the time left of a run, from its plan and from the time that its rounds take.

use crate::plan::Plan;
use crate::schedule::{Block, blocks};

/// Time that blocks took.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// The time that was planned for these blocks, in seconds.
    planned_seconds: f64,
    taken_seconds: f64,
}

impl Pace {
    /// The time that blocks take, as a multiple of the planned time. 1 without blocks.
    fn factor(self) -> f64 {
        if self.planned_seconds > 0.0 { self.taken_seconds / self.planned_seconds } else { 1.0 }
    }

    /// Expected time of the blocks that have not run yet, in seconds. `all_seconds` is the planned time of all blocks
    /// of this kind.
    fn rest_seconds(self, all_seconds: f64) -> f64 {
        (all_seconds - self.planned_seconds).max(0.0) * self.factor()
    }
}

/// The expected duration of rounds. In the first round, this is the planned duration, multiplied by the ratio of taken
/// time to planned time in the blocks so far. Loads have a ratio of their own, because later rounds do not load.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    rounds_left: u32,
    /// Planned duration, in seconds, of the blocks of the first round. `once_seconds` is for the blocks that only this
    /// round measures, and `each_seconds` is for the others.
    once_seconds: f64,
    each_seconds: f64,
    /// The blocks of the first round that have ended, of the same two kinds.
    once: Pace,
    each: Pace,
    /// The time in the first round at which the current or next block begins, in seconds.
    block_began_seconds: f64,
    /// Planned duration of the current or next round, in seconds.
    first_seconds: f64,
    /// Planned duration of each round after the current or next one, in seconds.
    other_seconds: f64,
    /// Number of rounds that have ended, and their total duration in seconds.
    seen: (u32, f64),
}

impl Forecast {
    /// Makes a forecast for a number of rounds.
    pub(crate) fn new(plan: &Plan, rounds: u32) -> Self {
        let (each, once): (Vec<Block>, Vec<Block>) =
            blocks(plan).into_iter().partition(|block| plan.measures_every_round(block.step));
        let seconds = |blocks: Vec<Block>| {
            let of_block =
                |block| plan.expected_block_seconds(block) + plan.expected_first_slices_seconds(block);
            blocks.into_iter().map(of_block).sum()
        };
        Self {
            rounds_left: rounds,
            once_seconds: seconds(once),
            each_seconds: seconds(each),
            once: Pace::default(),
            each: Pace::default(),
            block_began_seconds: 0.0,
            first_seconds: plan.expected_round_seconds(true),
            other_seconds: plan.expected_round_seconds(false) + plan.expected_load_seconds_a_round(),
            seen: (0, 0.0),
        }
    }

    /// Sets the number of remaining rounds.
    pub(crate) fn set_rounds_left(&mut self, rounds: u32) {
        self.rounds_left = rounds;
    }

    /// Records that all systems of the first round have started, after `into_round_seconds` of the round.
    pub(crate) fn started(&mut self, into_round_seconds: f64) {
        self.block_began_seconds = into_round_seconds;
    }

    /// Records that a block of the first round has ended, after `into_round_seconds` of the round. `planned_seconds` is
    /// the planned duration of the block. `is_once` tells whether later rounds leave the block out.
    pub(crate) fn block_ended(&mut self, planned_seconds: f64, is_once: bool, into_round_seconds: f64) {
        if self.seen.0 > 0 {
            return;
        }
        let pace = if is_once { &mut self.once } else { &mut self.each };
        pace.planned_seconds += planned_seconds;
        pace.taken_seconds += into_round_seconds - self.block_began_seconds;
        self.block_began_seconds = into_round_seconds;
    }

    /// Records the duration of a round that has ended.
    pub(crate) fn round_ended(&mut self, seconds: f64) {
        self.rounds_left = self.rounds_left.saturating_sub(1);
        self.first_seconds = self.other_seconds;
        // The first round is not typical. So the duration of the second round counts twice: for itself, and instead of
        // the duration of the first round.
        if self.seen.0 > 1 || self.seen.0 == 0 {
            self.seen = (self.seen.0 + 1, self.seen.1 + seconds);
        } else {
            self.seen = (2, 2.0 * seconds);
        }
    }

    /// Sets the expected duration of the following rounds.
    pub(crate) fn expect(&mut self, round_seconds: f64) {
        self.seen = (2, 2.0 * round_seconds);
    }

    /// Expected duration of a round.
    pub(crate) fn round_seconds(&self) -> f64 {
        match self.seen {
            (0, _) => self.first_seconds,
            // The first round may load tables, and determines the lengths of slices. Therefore later rounds take at
            // most as long as the first.
            (1, seconds) => seconds.min(self.other_seconds * self.each.factor()),
            (rounds, seconds) => seconds / f64::from(rounds),
        }
    }

    /// Time until the end of the run, in seconds, when `into_round_seconds` of the current round have passed.
    pub(crate) fn seconds_left(&self, into_round_seconds: f64) -> f64 {
        let Some(after) = self.rounds_left.checked_sub(1) else { return 0.0 };
        let is_first = self.seen.0 == 0;
        let other = if is_first { self.other_seconds * self.each.factor() } else { self.round_seconds() };
        let has_blocks = self.once.planned_seconds + self.each.planned_seconds > 0.0;
        let rest = if is_first && has_blocks {
            let blocks =
                self.once.rest_seconds(self.once_seconds) + self.each.rest_seconds(self.each_seconds);
            blocks - (into_round_seconds - self.block_began_seconds)
        } else {
            self.round_seconds() - into_round_seconds
        };
        rest.max(0.0) + f64::from(after) * other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::plan;

    #[test]
    fn before_anything_is_seen_the_plan_counts() {
        let plan = plan();
        let (first, later) = (plan.expected_round_seconds(true), plan.expected_round_seconds(false));
        let forecast = Forecast::new(&plan, 4);
        assert!((forecast.seconds_left(0.0) - (first + 3.0 * later)).abs() < 1e-9);
        assert!((forecast.seconds_left(1.0) - (first - 1.0 + 3.0 * later)).abs() < 1e-9);
    }

    #[test]
    fn blocks_that_take_longer_than_planned_count_in_the_first_round() {
        let mut forecast = Forecast::new(&plan(), 4);
        let (loads, each, other) = (forecast.once_seconds, forecast.each_seconds, forecast.other_seconds);
        forecast.started(30.0);
        // The loads take three times as long as planned, and the first half of the other blocks twice as long.
        forecast.block_ended(loads, true, 30.0 + 3.0 * loads);
        let loaded = 30.0 + 3.0 * loads;
        assert!((forecast.seconds_left(loaded) - (each + 3.0 * other)).abs() < 1e-9);
        forecast.block_ended(each / 2.0, false, loaded + each);
        assert!((forecast.seconds_left(loaded + each) - (each + 3.0 * 2.0 * other)).abs() < 1e-9);
        assert!((forecast.seconds_left(loaded + each + 1.0) - (each - 1.0 + 3.0 * 2.0 * other)).abs() < 1e-9);
        assert!(
            (forecast.seconds_left(1000.0) - 3.0 * 2.0 * other).abs() < 1e-9,
            "the round is about to end"
        );
        forecast.block_ended(each / 2.0, false, loaded + 2.0 * each);
        forecast.round_ended(loaded + 2.0 * each);
        let later = (2.0 * other).min(loaded + 2.0 * each);
        assert!((forecast.seconds_left(0.0) - 3.0 * later).abs() < 1e-9);
    }

    #[test]
    fn rounds_that_were_seen_count_and_the_first_least() {
        let mut forecast = Forecast::new(&plan(), 4);
        let planned = forecast.other_seconds;
        assert!(planned < 40.0);
        forecast.round_ended(40.0);
        assert!((forecast.seconds_left(0.0) - 3.0 * planned).abs() < 1e-9, "the first is longer than others");
        forecast.round_ended(10.0);
        assert!((forecast.seconds_left(0.0) - 20.0).abs() < 1e-9);
        forecast.round_ended(16.0);
        assert!((forecast.seconds_left(2.0) - 10.0).abs() < 1e-9);
        assert!((forecast.seconds_left(50.0)).abs() < 1e-9, "a round that takes longer is about to end");
    }
}
