//! What a run would do, without doing it.

use crate::plan::{Command, Data, Plan};
use crate::schedule::{Block, blocks};

/// About what a row of the usual tables takes on disk with its secondary index, in bytes: 189 bytes of columns,
/// 4 + 4 of the index, and pages that are not quite full.
const ROW_BYTES: u64 = 250;
/// What a server's own files take: logs, system tables.
const SERVER_BYTES: u64 = 400 << 20;

/// What a run would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Steps at their numbers of clients, in order.
    pub blocks: Vec<OutlineBlock>,
    /// Trials in all; where trials go on until all is decided, the fewest.
    pub trials: usize,
    /// About how long they take, in seconds.
    pub seconds: f64,
    /// About how much the systems take on disk at once, in bytes, as long as they hold the data set.
    pub disk_bytes: u64,
}

/// A step at a number of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineBlock {
    /// Position of the step in the plan.
    pub step: usize,
    /// Connections.
    pub clients: u32,
    /// Trials of all systems together.
    pub trials: usize,
    /// About how long they take, in seconds.
    pub seconds: f64,
}

impl Plan {
    /// What a run of the plan would do.
    pub fn outline(&self) -> Outline {
        let trials = self.systems.len() * self.trials.min() as usize;
        let outline = |block: Block| OutlineBlock {
            step: block.step,
            clients: block.clients,
            trials,
            seconds: trials as f64 * self.expected_trial_seconds(block.step),
        };
        let blocks: Vec<_> = blocks(self).into_iter().map(outline).collect();
        let loads = self.steps.iter().any(|step| step.command == Command::Prepare);
        let rows = self.data.filter(|_| loads).map_or(0, Data::rows_total);
        let servers = self.systems.iter().filter(|system| system.source.starts_server()).count() as u64;
        Outline {
            trials: blocks.iter().map(|block| block.trials).sum(),
            seconds: self.expected_seconds(),
            disk_bytes: self.systems.len() as u64 * rows * ROW_BYTES + servers * SERVER_BYTES,
            blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::testing::plan;

    #[test]
    fn an_outline_adds_up() {
        let outline = plan().outline();
        assert_eq!((outline.blocks.len(), outline.trials), (4, 48));
        let seconds: f64 = outline.blocks.iter().map(|block| block.seconds).sum();
        assert!((seconds - outline.seconds).abs() < 1e-9);
        assert_eq!(outline.disk_bytes, 3 * 200 * 250 + 2 * (400 << 20));
    }
}
