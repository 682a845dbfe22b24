//! Forecasts the duration of a run.

use crate::plan::{BetweenSteps, Plan, StackSampling, Step, StepEvent};
use crate::schedule::{Block, blocks};

/// Assumed rate of loads until a rate has been measured, in rows per second.
const LOADED_ROWS_PER_SECOND: f64 = 20_000.0;
/// Assumed time of a trial besides warm-up and measured time, in seconds: connecting, the unmeasured beginnings of
/// slices, and committing.
const OVERHEAD_SECONDS: f64 = 0.2;
/// Assumed time to start a server on a snapshot, in seconds.
const START_SECONDS: f64 = 1.5;
/// Assumed time to restore or restart a server before a step, in seconds: the start, and the wait until the server is
/// at rest.
const RESTORE_SECONDS: f64 = 3.0;
/// Assumed wait until the servers of a round are at rest, in seconds.
const SETTLE_SECONDS: f64 = 3.0;

impl Plan {
    /// Returns the estimated duration of a run in seconds, without the time to fetch engines. If verdicts end the
    /// run, this is the shortest possible duration.
    pub fn expected_seconds(&self) -> f64 {
        match self.rounds {
            crate::plan::Rounds::Budget { seconds } => seconds,
            _ => Forecast::new(self, self.rounds_min()).seconds_left(0.0),
        }
    }

    /// Estimated duration of a trial of a block, in seconds.
    pub(crate) fn expected_trial_seconds(&self, block: Block) -> f64 {
        let step = &self.steps[block.step];
        OVERHEAD_SECONDS
            + if step.is_load() {
                self.data.map_or(0.0, |data| data.rows_total() as f64 / LOADED_ROWS_PER_SECOND)
            } else {
                step.warmup_seconds + expected_measured_seconds(step) + self.expected_restore_seconds()
            }
    }

    /// Estimated duration of the trials of a block in a round that measures it, in seconds.
    pub(crate) fn expected_block_seconds(&self, block: Block) -> f64 {
        self.trials_a_round(block) as f64 * self.expected_trial_seconds(block)
    }

    /// Estimated time to restore or restart a system before a step, in seconds.
    fn expected_restore_seconds(&self) -> f64 {
        if self.between_steps == BetweenSteps::Keep { 0.0 } else { RESTORE_SECONDS }
    }

    /// Estimated duration of a round, in seconds. Loads may be measured only in the first round.
    fn expected_round_seconds(&self, is_first: bool) -> f64 {
        let is_measured = |block: &Block| is_first || self.measures_every_round(block.step);
        let trials =
            blocks(self).into_iter().filter(is_measured).map(|block| self.expected_block_seconds(block));
        let starts = self.systems.iter().filter(|system| system.source.starts_server()).count();
        let waits = if self.one_at_a_time { starts } else { starts.min(1) };
        let starting = starts as f64 * START_SECONDS + waits as f64 * SETTLE_SECONDS;
        let stacks = if is_first { self.expected_stacks_seconds() } else { 0.0 };
        trials.sum::<f64>() + stacks + starting
    }

    /// Estimated time that loads add to each round on average, in seconds, if several rounds share a load.
    fn expected_load_seconds_a_round(&self) -> f64 {
        let loads = blocks(self).into_iter().filter(|block| !self.measures_every_round(block.step));
        let seconds = loads.map(|block| self.expected_block_seconds(block));
        self.rounds_per_load.map_or(0.0, |rounds| seconds.sum::<f64>() / f64::from(rounds))
    }

    /// Estimated time of the additional loads during which stacks are sampled, in seconds.
    fn expected_stacks_seconds(&self) -> f64 {
        let of_step = |(position, step): (usize, &Step)| {
            let passes = step.stacks.map_or(0, |_| self.systems_of(position).count() * step.clients.len());
            passes as f64 * (step.warmup_seconds + StackSampling::seconds(step, step.seconds))
        };
        self.steps.iter().enumerate().map(of_step).sum()
    }

    /// Number of trials of a block in a round that measures it.
    pub(crate) fn trials_a_round(&self, block: Block) -> usize {
        if self.steps[block.step].is_load() { self.data_sets() } else { self.systems_of(block.step).count() }
    }
}

/// Estimated measured time of a step, in seconds. A step that waits for an event may last longer, but how long a
/// statement or a command takes is not known.
fn expected_measured_seconds(step: &Step) -> f64 {
    let ends = step.step_events.iter().filter(|event| event.until_done).map(StepEvent::ends_at_least_seconds);
    ends.fold(step.seconds, f64::max)
}

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

/// The expected duration of rounds. In the first round, this is the planned duration, multiplied as the blocks so far
/// suggest. Loads count apart, because later rounds do not load.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    rounds_left: u32,
    /// Planned duration of the blocks of the first round, in seconds: of those that only this round measures, and of
    /// the others.
    once_seconds: f64,
    each_seconds: f64,
    /// The blocks so far of the first round, of the same two kinds.
    once: Pace,
    each: Pace,
    /// The time in the first round from which the next block counts, in seconds.
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
        let seconds = |blocks: Vec<Block>| blocks.into_iter().map(|it| plan.expected_block_seconds(it)).sum();
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

    /// Records that all systems of the first round have started, when `into_round_seconds` of it have passed.
    pub(crate) fn started(&mut self, into_round_seconds: f64) {
        self.block_began_seconds = into_round_seconds;
    }

    /// Records that a block of the first round has ended, for which `planned_seconds` were planned, when
    /// `into_round_seconds` of the round have passed. `is_once` tells whether later rounds leave the block out.
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
    use crate::plan::testing::{TEXT, parse, plan};

    #[test]
    fn before_anything_is_seen_the_plan_counts() {
        let plan = plan();
        // The plan has three systems, two of which have servers. It has a load of 200 rows and a step of 2.5 s,
        // each with two numbers of clients.
        let round = 3.0 * (2.0 * (OVERHEAD_SECONDS + 0.01) + 2.0 * (2.5 + OVERHEAD_SECONDS))
            + 2.0 * START_SECONDS
            + SETTLE_SECONDS;
        let later = round - 3.0 * 2.0 * (OVERHEAD_SECONDS + 0.01);
        let forecast = Forecast::new(&plan, 4);
        assert!((forecast.seconds_left(0.0) - (round + 3.0 * later)).abs() < 1e-9);
        assert!((forecast.seconds_left(1.0) - (round - 1.0 + 3.0 * later)).abs() < 1e-9);
    }

    #[test]
    fn a_step_waits_for_its_events_and_for_restored_data() {
        let event =
            "seconds = 3\n[[step.event]]\nat_seconds = 2\nidle_transaction_seconds = 1.5\nuntil = \"done\"\n";
        let text = TEXT.replace("options = { range_size = 10, skip_trx = true }\n", event);
        let restored = text.replace("rounds = 4", "rounds = 4\nbetween_steps = \"restore\"");
        for (text, restore_seconds) in [(text, 0.0), (restored, RESTORE_SECONDS)] {
            let plan = parse(&text).unwrap();
            let block = blocks(&plan).into_iter().find(|block| block.step == 1).unwrap();
            let expected =
                OVERHEAD_SECONDS + plan.steps[1].warmup_seconds + 2.0 + 1.5 + 5.0 + restore_seconds;
            assert!((plan.expected_trial_seconds(block) - expected).abs() < 1e-9);
        }
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
