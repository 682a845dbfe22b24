//! Stops measuring some tests at a look (an analysis between rounds), so that the other tests get the time. A test is
//! no longer measured if it is decided. If the run has a time limit, a test is also no longer measured if its verdict
//! is out of reach, which means that it would probably need more rounds than the time allows.

use dyno_judge::{Analysis, TestComparison};
use dyno_store::LeftTest;

use super::session::RunSession;
use crate::plan::{BetweenSteps, Plan};
use crate::run::error::RunError;
use crate::run::observer::Event;
use crate::schedule::{Block, blocks};

/// A verdict is out of reach if the estimated number of rounds until the verdict is more than this multiple of the
/// number of remaining rounds. The estimate may be wrong by about this factor.
const REACH: u32 = 2;

/// Whether a test is no longer measured.
pub(crate) fn is_left(left: &[LeftTest], step: &str, clients: u32) -> bool {
    left.iter().any(|left| left.step == step && left.clients == clients)
}

impl RunSession<'_> {
    /// Whether the test of a block is no longer measured.
    pub(crate) fn is_left(&self, block: &Block) -> bool {
        is_left(&self.left_tests, &self.plan.steps[block.step].id, block.clients)
    }

    /// Stops measuring tests at a look (an analysis between rounds). `complete` is the number of complete rounds, and
    /// `last_round` is the number of the last of them.
    ///
    /// # Errors
    /// The results file cannot be written.
    pub(crate) fn leave(
        &mut self,
        analysis: &Analysis,
        (last_round, complete): (u32, u32),
        spent_seconds: f64,
    ) -> Result<(), RunError> {
        if !self.plan.leave_decided.0 {
            return Ok(());
        }
        let measured: Vec<Block> =
            blocks(self.plan).into_iter().filter(|block| !self.is_left(block)).collect();
        let open: Vec<&TestComparison> = analysis.open_tests(self.plan.base_id()).collect();
        let reach = self.reach(complete, spent_seconds);
        let left = leavable(self.plan, &measured, &open, reach);
        if left.is_empty() {
            return Ok(());
        }
        let spared: f64 = left.iter().map(|block| self.plan.expected_block_seconds(*block)).sum();
        let round_seconds = self.forecast.round_seconds();
        self.forecast.expect((round_seconds - spared).max(round_seconds / 10.0));
        let of = |block: &Block| LeftTest {
            step: self.plan.steps[block.step].id.clone(),
            clients: block.clients,
            last_round,
        };
        let left: Vec<LeftTest> = left.iter().map(of).collect();
        self.observer.observe(&Event::TestsLeft { tests: left.len(), of: timed(self.plan, &measured) });
        self.left_tests.extend(left);
        self.store.put_left_tests(self.run, &self.left_tests)?;
        Ok(())
    }

    /// The largest number of further rounds that a verdict may take. `None` without a time limit.
    fn reach(&self, complete: u32, spent_seconds: f64) -> Option<u32> {
        let left_seconds = self.options.time_max?.as_secs_f64() - spent_seconds;
        let rounds = (left_seconds / self.forecast.round_seconds()).max(0.0) as u32;
        Some(REACH.saturating_mul(rounds.min(self.plan.rounds.max() - complete)))
    }
}

/// Returns those of the `measured` blocks that may be left out: blocks without an open test, and blocks whose open
/// tests are all out of reach (they would probably not be decided in the remaining time). If this would leave out all
/// blocks, only the blocks without an open test are returned.
fn leavable(plan: &Plan, measured: &[Block], open: &[&TestComparison], reach: Option<u32>) -> Vec<Block> {
    let is_of = |block: &Block, test: &TestComparison| {
        (test.step.as_str(), test.clients) == (plan.steps[block.step].id.as_str(), block.clients)
    };
    let is_near = |test: &TestComparison| {
        reach.is_none_or(|reach| test.more_rounds.is_some_and(|more| more <= reach as usize))
    };
    let nearest =
        unneeded(plan, measured, |block| open.iter().any(|test| is_of(block, test) && is_near(test)));
    if nearest.len() < timed(plan, measured) {
        return nearest;
    }
    unneeded(plan, measured, |block| open.iter().any(|test| is_of(block, test)))
}

/// Returns the number of the blocks that are not loads.
fn timed(plan: &Plan, blocks: &[Block]) -> usize {
    blocks.iter().filter(|block| !plan.steps[block.step].is_load()).count()
}

/// Returns the blocks that can be left out. An unwanted block can be left out if no wanted block after it needs the
/// changes that the unwanted block makes to the tables. A block that only reads makes no changes. If data is restored
/// between steps, the blocks of later steps do not need the changes. Loads are never left out.
fn unneeded(plan: &Plan, measured: &[Block], is_wanted: impl Fn(&Block) -> bool) -> Vec<Block> {
    let mut left = Vec::new();
    let (mut is_followed, mut of_step) = (false, None);
    for block in measured.iter().rev() {
        let step = &plan.steps[block.step];
        if plan.between_steps == BetweenSteps::Restore && of_step.replace(block.step) != Some(block.step) {
            is_followed = false;
        }
        if step.is_load() {
            continue;
        }
        if is_wanted(block) || (is_followed && !step.only_reads()) {
            is_followed = true;
        } else {
            left.push(*block);
        }
    }
    left.reverse();
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse};

    /// Returns a plan that reads before, between and after two steps that write, each at two numbers of clients.
    fn plan(keys: &str) -> Plan {
        let step = |workload: &str, id: usize| {
            format!(
                "[[step]]\nid = \"s{id}\"\ngroup = \"g\"\nworkload = \"{workload}\"\noperation = \"query\"\n"
            )
        };
        let steps = ["oltp_point_select", "oltp_insert", "oltp_scan", "oltp_delete", "select_random_points"];
        let (head, _) = TEXT.split_once("[[step]]").unwrap();
        let steps: String = steps.iter().enumerate().map(|(id, workload)| step(workload, id)).collect();
        parse(&format!("{}{steps}", head.replacen("rounds = 4", &format!("rounds = 4\n{keys}"), 1))).unwrap()
    }

    /// Returns the steps and the clients of the blocks that are left out if only the `wanted` blocks are needed.
    fn left(plan: &Plan, wanted: &[(usize, u32)]) -> Vec<(usize, u32)> {
        let is_wanted = |block: &Block| wanted.contains(&(block.step, block.clients));
        let left = unneeded(plan, &blocks(plan), is_wanted);
        left.iter().map(|block| (block.step, block.clients)).collect()
    }

    #[test]
    fn what_writes_stays_as_long_as_something_follows_it() {
        let plan = plan("");
        let reads = [(0, 1), (0, 4), (2, 1), (2, 4)];
        assert_eq!(left(&plan, &[(4, 4)]), [&reads[..], &[(4, 1)]].concat());
        let after = [(2, 4), (3, 1), (3, 4), (4, 1), (4, 4)];
        assert_eq!(left(&plan, &[(2, 1)]), [&reads[..2], &after[..]].concat());
        assert_eq!(left(&plan, &[(0, 1)]).len(), 9, "nothing is needed for the first step");
        assert_eq!(left(&plan, &[]).len(), 10);
    }

    #[test]
    fn restored_data_does_not_depend_on_earlier_steps() {
        let plan = plan("between_steps = \"restore\"");
        assert_eq!(left(&plan, &[(4, 4)]).len(), 9);
        let others = left(&plan, &[(3, 4)]);
        assert!(others.len() == 8 && !others.contains(&(3, 1)), "the same step at fewer clients: {others:?}");
    }
}
