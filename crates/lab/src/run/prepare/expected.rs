//! Estimates the durations of trials, blocks and rounds from a plan.

use super::forecast::Forecast;
use crate::plan::{BetweenSteps, Measure, Plan, Rounds, StackSampling, Step, StepEvent, System};
use crate::schedule::{Block, blocks};

/// Assumed rate of loads until a rate has been measured, in rows per second.
const LOADED_ROWS_PER_SECOND: f64 = 20_000.0;
/// Assumed time of a trial besides warm-up and measured time, in seconds: connecting, the unmeasured beginnings of
/// slices, and committing.
const OVERHEAD_SECONDS: f64 = 0.1;
/// Assumed time to start a server on a snapshot, in seconds.
const START_SECONDS: f64 = 1.5;
/// Assumed time to restore or restart a server before a step, in seconds: the start, and the wait until the server is
/// at rest.
const RESTORE_SECONDS: f64 = 3.0;
/// Assumed wait until the servers of a round are at rest, in seconds.
const SETTLE_SECONDS: f64 = 3.0;
/// Assumed additional time to start and to stop a server whose device operations are limited, in seconds: it reads its
/// logs and writes its changed pages at the limit.
const LIMITED_SECONDS: f64 = 5.0;
/// Assumed time to check the data after a trial, in seconds.
const CHECK_SECONDS: f64 = 10.0;
/// Assumed time of the first slices of a system, which determine the lengths of a block's slices, in seconds.
const FIRST_SLICES_SECONDS: f64 = 0.5;

impl Plan {
    /// Returns the estimated duration of a run in seconds, without the time to fetch engines. If verdicts end the
    /// run, this is the shortest possible duration.
    pub fn expected_seconds(&self) -> f64 {
        match self.rounds {
            Rounds::Budget { seconds } => seconds,
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
                let check_seconds = if step.check { CHECK_SECONDS } else { 0.0 };
                step.warmup_seconds
                    + expected_measured_seconds(step)
                    + check_seconds
                    + self.expected_restore_seconds()
            }
    }

    /// Estimated duration of the trials of a block in a round that measures it, in seconds.
    pub(crate) fn expected_block_seconds(&self, block: Block) -> f64 {
        self.trials_a_round(block) as f64 * self.expected_trial_seconds(block)
    }

    /// Estimated duration of the first slices of a block, in seconds. Only the first round has them.
    pub(crate) fn expected_first_slices_seconds(&self, block: Block) -> f64 {
        let is_sliced = matches!(self.steps[block.step].measure, Measure::Sliced(_));
        if is_sliced { self.trials_a_round(block) as f64 * FIRST_SLICES_SECONDS } else { 0.0 }
    }

    /// Estimated time to restore or restart a system before a step, in seconds.
    fn expected_restore_seconds(&self) -> f64 {
        if self.between_steps == BetweenSteps::Keep { 0.0 } else { RESTORE_SECONDS }
    }

    /// Estimated duration of a round, in seconds. Loads may be measured only in the first round.
    pub(super) fn expected_round_seconds(&self, is_first: bool) -> f64 {
        let is_measured = |block: &Block| is_first || self.measures_every_round(block.step);
        let of_block = |block: Block| {
            let first_slices = if is_first { self.expected_first_slices_seconds(block) } else { 0.0 };
            self.expected_block_seconds(block) + first_slices
        };
        let blocks: f64 = blocks(self).into_iter().filter(is_measured).map(of_block).sum();
        let stacks = if is_first { self.expected_stacks_seconds() } else { 0.0 };
        blocks + stacks + self.expected_starting_seconds()
    }

    /// Estimated time in a round to start and to stop the servers, and to wait until they are at rest, in seconds.
    fn expected_starting_seconds(&self) -> f64 {
        let servers = || self.systems.iter().filter(|system| system.source.starts_server());
        let is_limited = |system: &&System| {
            let io = &system.confinement.io;
            io.read_iops.is_some() || io.write_iops.is_some()
        };
        let (starts, limited) = (servers().count(), servers().filter(is_limited).count());
        // Systems that run together settle, and reach their limits, at the same time.
        let waits = |systems: usize| if self.one_at_a_time { systems } else { systems.min(1) };
        starts as f64 * START_SECONDS
            + waits(starts) as f64 * SETTLE_SECONDS
            + waits(limited) as f64 * LIMITED_SECONDS
    }

    /// Estimated time that loads add to each round on average, in seconds, if several rounds share a load.
    pub(super) fn expected_load_seconds_a_round(&self) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse, plan};

    #[test]
    fn the_first_round_loads_and_finds_the_lengths_of_slices() {
        let plan = plan();
        // Two of the plan's three systems have servers. The load of 200 rows and the step of 2.5 s each run with two
        // numbers of clients.
        let starting = 2.0 * START_SECONDS + SETTLE_SECONDS;
        let later = 3.0 * 2.0 * (2.5 + OVERHEAD_SECONDS) + starting;
        let first = later + 3.0 * 2.0 * (OVERHEAD_SECONDS + 0.01) + 3.0 * 2.0 * FIRST_SLICES_SECONDS;
        assert!((plan.expected_round_seconds(true) - first).abs() < 1e-9);
        assert!((plan.expected_round_seconds(false) - later).abs() < 1e-9);
    }

    #[test]
    fn limited_servers_that_run_one_at_a_time_start_and_stop_slowly() {
        let mut plan = plan();
        let together = 2.0 * START_SECONDS + SETTLE_SECONDS;
        assert!((plan.expected_starting_seconds() - together).abs() < 1e-9);
        let servers = plan.systems.iter_mut().filter(|system| system.source.starts_server());
        servers.for_each(|system| system.confinement.io.read_iops = Some(100));
        assert!((plan.expected_starting_seconds() - (together + LIMITED_SECONDS)).abs() < 1e-9);
        plan.one_at_a_time = true;
        let alone = together + SETTLE_SECONDS + 2.0 * LIMITED_SECONDS;
        assert!((plan.expected_starting_seconds() - alone).abs() < 1e-9);
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
}
