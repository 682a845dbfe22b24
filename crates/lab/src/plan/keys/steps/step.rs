//! The plan's tables `[[step]]`.

mod checks;
pub(in crate::plan) mod endpoint;
mod rate;
mod table;

use std::collections::BTreeMap;

use dyno_load::{Rate, Script};
use dyno_store::{FindRecord, Operation};

pub use self::endpoint::Endpoint;
pub use self::table::traffic::Traffic;
pub(in crate::plan) use self::table::{Pace, StepTable};
use crate::plan::keys::steps::background::Background;
use crate::plan::keys::steps::command::Command;
use crate::plan::keys::steps::event::StepEvent;
use crate::plan::keys::steps::measure::Measure;
use crate::plan::keys::steps::queries::{Explained, Queries};
use crate::plan::keys::steps::stacks::StackSampling;

/// A workload and how it is run.
#[derive(Clone, Debug)]
pub struct Step {
    /// Name of the step in this plan.
    pub id: String,
    /// Name of the step's group in the reports.
    pub group: String,
    pub measure: Measure,
    pub script: Script,
    /// The script's options, which override those of the data set.
    pub options: BTreeMap<String, String>,
    /// The operation that is counted for the rate in reports.
    pub operation: Operation,
    /// Numbers of clients, measured one after the other.
    pub clients: Vec<u32>,
    /// Measured time of a trial (one system in one round), in seconds. A load runs to its end.
    pub seconds: f64,
    /// Shortest warm-up before the measured time, in seconds.
    pub warmup_seconds: f64,
    /// Longest warm-up, in seconds, while the rate still rises or falls. With 0, the step does not wait for a level
    /// rate.
    pub warmup_seconds_max: f64,
    /// The servers that the step's own load connects to.
    pub endpoint: Endpoint,
    /// Hosts from which the load comes, as `ssh://HOST`. Empty if the load comes from this host.
    pub drivers: Vec<String>,
    /// Rate of an open loop, in events a second over all connections. `None` for a closed loop.
    pub rate: Option<Rate>,
    /// The traffic that the step replays. A step that replays traffic does not run the events of a script.
    pub traffic: Option<Traffic>,
    /// How queries are treated: their time limit, their plans and their answers.
    pub queries: Queries,
    pub background: Vec<Background>,
    /// Events that are done to the systems while the load runs.
    pub step_events: Vec<StepEvent>,
    /// Whether the systems' I/O limits apply during the step.
    pub limit_io: bool,
    /// Whether pending writes are awaited after each trial.
    pub drain: bool,
    /// How stacks of servers are sampled. `None` if they are not sampled.
    pub stacks: Option<StackSampling>,
    /// The earlier step that this step repeats, to show the effect of the steps between the two.
    pub repeats: Option<String>,
    /// Whether the script's command `check` runs after each trial. The trial fails if the command finds wrong data.
    pub check: bool,
    /// Number of crashes after each trial. Each crash kills the system under load. The system is then started
    /// again, and its data is checked.
    pub crashes: u32,
    /// A shell command that runs before each trial.
    pub before: Option<String>,
    /// A shell command that runs after each trial.
    pub after: Option<String>,
    /// Ids of the systems that do not run the step.
    pub not_for: Vec<String>,
}

/// Built-in workloads that only read.
const READING: [&str; 8] = [
    "oltp_inlist_select",
    "oltp_point_select",
    "oltp_range_select",
    "oltp_read_only",
    "oltp_scan",
    "select_random_points",
    "select_random_ranges",
    "tpch",
];

impl Step {
    /// Returns whether the step fills the tables.
    pub fn is_load(&self) -> bool {
        self.measure == Measure::Load
    }

    /// Returns the command of the script that the step runs.
    pub(crate) fn command(&self) -> Command {
        if self.is_load() { Command::Prepare } else { Command::Run }
    }

    /// Returns the number of events after which a trial ends. `None` if the end does not depend on a number of
    /// events.
    pub(crate) fn events(&self) -> Option<u32> {
        match self.measure {
            Measure::Events(events) => Some(events),
            _ => None,
        }
    }

    /// Returns the latency limit within which trials search for the highest rate. `None` if they do not search.
    pub(crate) fn search(&self) -> Option<FindRecord> {
        match self.measure {
            Measure::Search(find) => Some(find),
            _ => None,
        }
    }

    /// Returns whether servers are asked for the plans of all statements. They are not asked in a step whose trials end
    /// after a number of events. Such a step has a small number of long queries, and old servers execute parts of a
    /// query to explain it.
    pub(crate) fn notes_statements(&self) -> bool {
        !self.is_load() && self.queries.explain != Explained::Nothing && self.events().is_none()
    }

    /// Returns whether the system with this id runs the step.
    pub fn is_for(&self, system: &str) -> bool {
        !self.not_for.iter().any(|without| without == system)
    }

    /// Returns whether the step certainly changes no data, because it only runs a built-in workload that reads.
    pub(crate) fn only_reads(&self) -> bool {
        let is_builtin = self.script.search_path.is_empty();
        let is_alone = self.background.is_empty()
            && self.step_events.is_empty()
            && self.before.is_none()
            && self.after.is_none()
            && self.crashes == 0
            && !self.check;
        let reads = is_builtin && READING.contains(&self.script.name.as_str());
        !self.is_load() && is_alone && reads
    }

    /// Returns whether the step expects the original data. The statements of logged traffic and of events may behave
    /// differently or fail on data that an earlier execution of the step has changed.
    pub(crate) fn needs_its_data(&self) -> bool {
        self.traffic.is_some() || !self.step_events.is_empty()
    }

    /// Returns the step id of a background load in results and reports.
    pub fn background_id(&self, background: &Background) -> String {
        format!("{}.{}", self.id, background.id)
    }

    /// Sets the measured seconds. The times at which background clients join, and the times of events, change by the
    /// same factor.
    pub fn set_seconds(&mut self, seconds: f64) {
        let factor = seconds / self.seconds;
        self.background.iter_mut().for_each(|background| background.stretch(factor));
        self.step_events.iter_mut().for_each(|event| event.stretch(factor));
        self.seconds = seconds;
    }

    /// Returns whether something happens at certain times in the step: clients of a background load join, or events
    /// are due.
    pub(crate) fn has_time_axis(&self) -> bool {
        self.has_joins() || !self.step_events.is_empty()
    }

    /// Returns whether clients of a background load join over time.
    pub fn has_joins(&self) -> bool {
        self.background.iter().any(|background| !background.joins.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use dyno_load::builtin_workloads;

    use super::READING;
    use crate::plan::testing::{TEXT, parse};

    #[test]
    fn each_built_in_workload_reads_or_may_write() {
        let writing: Vec<&str> =
            builtin_workloads().into_iter().filter(|name| !READING.contains(name)).collect();
        let expected = [
            "bulk_insert",
            "ch",
            "ibench",
            "oltp_delete",
            "oltp_inlist_update",
            "oltp_insert",
            "oltp_read_write",
            "oltp_update_index",
            "oltp_update_non_index",
            "oltp_write_only",
            "tpcb",
            "tpcc",
            "tprocc",
            "ycsb",
        ];
        assert_eq!(writing, expected);
        assert!(READING.iter().all(|name| builtin_workloads().contains(name)));
    }

    #[test]
    fn limits_of_io_are_lifted_for_loads_alone() {
        let of_load = TEXT.replace("operation = \"row\"", "operation = \"row\"\nlimit_io = false");
        let limited: Vec<bool> = parse(&of_load).unwrap().steps.iter().map(|step| step.limit_io).collect();
        assert_eq!(limited, [false, true]);
        assert!(parse(TEXT).unwrap().steps.iter().all(|step| step.limit_io));
        for value in [true, false] {
            let error = parse(&format!("{TEXT}limit_io = {value}\n")).unwrap_err().to_string();
            assert!(error.contains("I/O limits are lifted only for loads; leave `limit_io` out"), "{error}");
        }
    }
}
