//! Estimates what a run would do, for `--dry-run`.

use super::executed::is_in_every_round;
use crate::plan::{Command, Data, Plan};
use crate::schedule::{Block, blocks};

/// Estimated size of a row of the usual tables with its secondary index, in bytes: 189 bytes of columns,
/// 4 + 4 of the index, and pages that are partly full.
const ROW_BYTES: u64 = 250;
/// Estimated size of a server's own files: logs, system tables.
const SERVER_BYTES: u64 = 400 << 20;

/// An estimate of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Steps at their numbers of clients, in order.
    pub blocks: Vec<OutlineBlock>,
    /// Trials in all rounds; the fewest if the number of rounds depends on results.
    pub trials: usize,
    /// Estimated duration, in seconds.
    pub seconds: f64,
    /// Estimated disk space of all systems with the data set, in bytes.
    pub disk_bytes: u64,
}

/// A step at a number of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineBlock {
    /// Position of the step in the plan.
    pub step: usize,
    pub clients: u32,
    /// Trials of all systems in a round.
    pub trials: usize,
    /// Their estimated duration together, in seconds.
    pub seconds: f64,
}

impl Plan {
    /// Estimates a run of the plan.
    pub fn outline(&self) -> Outline {
        let outline = |block: Block| OutlineBlock {
            step: block.step,
            clients: block.clients,
            trials: self.systems.len(),
            seconds: self.systems.len() as f64 * self.expected_trial_seconds(block),
        };
        let loads = self.steps.iter().any(|step| step.command == Command::Prepare);
        let rows = self.data.filter(|_| loads).map_or(0, Data::rows_total);
        let rounds = |block: &Block| {
            if is_in_every_round(self, self.steps[block.step].command) {
                self.rounds.min() as usize
            } else {
                1
            }
        };
        let trials = blocks(self).iter().map(|block| rounds(block) * self.systems.len()).sum();
        let servers = self.systems.iter().filter(|system| system.source.starts_server()).count() as u64;
        Outline {
            blocks: blocks(self).into_iter().map(outline).collect(),
            trials,
            seconds: self.expected_seconds(),
            disk_bytes: self.systems.len() as u64 * rows * ROW_BYTES + servers * SERVER_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::testing::plan;

    #[test]
    fn an_outline_has_each_block_with_its_time_in_a_round() {
        let outline = plan().outline();
        let blocks: Vec<_> = outline.blocks.iter().map(|block| (block.step, block.trials)).collect();
        assert_eq!(blocks, [(0, 3), (0, 3), (1, 3), (1, 3)]);
        assert_eq!(outline.trials, 3 * (2 + 2 * plan().rounds.min() as usize));
        let round: f64 = outline.blocks.iter().map(|block| block.seconds).sum();
        assert!(outline.seconds > round);
        assert_eq!(outline.disk_bytes, 3 * 200 * 250 + 2 * (400 << 20));
    }
}
