//! Estimates the size and duration of a run, for `--dry-run`.

use crate::plan::{Data, Plan, Step, System};
use crate::schedule::{Block, blocks};

/// Estimated size of a row of sysbench's table and of its entry in the secondary index, in bytes. The columns have 189
/// bytes, and the index entry 4 + 4. The rest is for pages that are partly full. The workloads' option `filler_bytes`
/// adds to this size.
const ROW_BYTES: u64 = 250;
/// Estimated size of a server's own files, such as logs and system tables, in bytes.
const SERVER_BYTES: u64 = 400 << 20;

/// An estimate of a run's size and duration.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Each step at each of its numbers of clients, in order.
    pub blocks: Vec<OutlineBlock>,
    /// Number of trials in all rounds. If the number of rounds depends on results, this is the smallest possible
    /// number.
    pub trials: usize,
    /// Estimated duration, in seconds.
    pub seconds: f64,
    /// Estimated disk space in bytes, for the systems that run at the same time and for kept data.
    pub disk_bytes: u64,
}

/// A step at a number of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineBlock {
    /// Position of the step in the plan.
    pub step: usize,
    pub clients: u32,
    /// Number of trials in a round. A load has one trial for each data set, because systems may share loaded data.
    pub trials: usize,
    /// Estimated duration of all these trials together, in seconds.
    pub seconds: f64,
}

impl Plan {
    /// Estimates a run of the plan.
    pub fn outline(&self) -> Outline {
        let outline = |block: Block| OutlineBlock {
            step: block.step,
            clients: block.clients,
            trials: self.trials_a_round(block),
            seconds: self.expected_block_seconds(block),
        };
        let rounds = |block: &Block| {
            let rounds = self.rounds_min();
            let is_load = self.steps[block.step].is_load();
            if is_load { self.load_rounds(rounds) as usize } else { rounds as usize }
        };
        let trials = blocks(self).iter().map(|block| rounds(block) * self.trials_a_round(*block)).sum();
        Outline {
            blocks: blocks(self).into_iter().map(outline).collect(),
            trials,
            seconds: self.expected_seconds(),
            disk_bytes: self.expected_disk_bytes(),
        }
    }

    /// Estimates the size of the systems that run at the same time, and of the copies that are kept, in bytes.
    fn expected_disk_bytes(&self) -> u64 {
        // Each replica has a copy of the data.
        let copies = |system: &System| 1 + system.replication.map_or(0, |it| u64::from(it.replicas));
        let of_server = |system: &System| if system.source.starts_server() { copies(system) } else { 0 };
        let at_once = |number: &dyn Fn(&System) -> u64| -> u64 {
            let numbers = self.systems.iter().map(number);
            if self.one_at_a_time { numbers.max().unwrap_or(0) } else { numbers.sum() }
        };
        let (up, servers) = (at_once(&copies), at_once(&of_server));
        let kept = if self.keeps_data() { self.data_sets() as u64 } else { 0 };
        (up + kept) * self.loaded_bytes() + servers * SERVER_BYTES
    }

    /// Estimated disk space of one system that Dyno starts, including its loaded data, in bytes.
    pub(crate) fn system_disk_bytes(&self) -> u64 {
        self.loaded_bytes() + SERVER_BYTES
    }

    /// Estimated size of the data that is loaded into each system, in bytes.
    fn loaded_bytes(&self) -> u64 {
        let loads: Vec<&Step> = self.steps.iter().filter(|step| step.is_load()).collect();
        let rows = self.data.filter(|_| !loads.is_empty()).map_or(0, Data::rows_total);
        let filler = |step: &&Step| step.options.get("filler_bytes").and_then(|bytes| bytes.parse().ok());
        rows * (ROW_BYTES + loads.iter().filter_map(filler).max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::testing::{TEXT, parse, plan};

    #[test]
    fn an_outline_has_each_block_with_its_time_in_a_round() {
        let outline = plan().outline();
        let blocks: Vec<_> = outline.blocks.iter().map(|block| (block.step, block.trials)).collect();
        assert_eq!(blocks, [(0, 3), (0, 3), (1, 3), (1, 3)]);
        assert_eq!(outline.trials, 3 * (2 + 2 * plan().rounds_min() as usize));
        let round: f64 = outline.blocks.iter().map(|block| block.seconds).sum();
        assert!(outline.seconds > round);
        assert_eq!(outline.disk_bytes, (3 + 3) * 200 * 250 + 2 * (400 << 20));
    }

    #[test]
    fn systems_that_run_one_at_a_time_and_share_data_take_less_disk_and_load_once() {
        let sweep = "id = \"a\"\nshare_data = true\nsweep = { innodb_io_capacity = [100, 200, 300, 400] }";
        let text = TEXT.replacen("id = \"a\"", sweep, 1).replacen(
            "rounds = 4",
            "rounds = 4\none_at_a_time = true",
            1,
        );
        let filler = "operation = \"row\"\noptions = { filler_bytes = 1000 }";
        let outline = parse(&text.replacen("operation = \"row\"", filler, 1)).unwrap().outline();
        let trials: Vec<usize> = outline.blocks.iter().map(|block| block.trials).collect();
        assert_eq!(trials, [3, 3, 6, 6]);
        assert_eq!(outline.disk_bytes, (1 + 3) * 200 * 1250 + (400 << 20));
        let one = parse(&text.replacen("operation = \"row\"", filler, 1)).unwrap().system_disk_bytes();
        assert_eq!(one, 200 * 1250 + (400 << 20));
    }
}
