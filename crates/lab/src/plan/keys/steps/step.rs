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
    /// Its name in this plan.
    pub id: String,
    /// Its group in the reports.
    pub group: String,
    pub measure: Measure,
    pub script: Script,
    /// The script's options; they override those of the data set.
    pub options: BTreeMap<String, String>,
    /// The operation that its rate counts.
    pub operation: Operation,
    /// Numbers of clients, measured one after the other.
    pub clients: Vec<u32>,
    /// Measured time of a trial (one system in one round), in seconds. A load runs to its end.
    pub seconds: f64,
    /// Shortest warm-up before that, in seconds.
    pub warmup_seconds: f64,
    /// Longest warm-up, in seconds, while the rate still rises or falls. 0 does not wait for a level rate.
    pub warmup_seconds_max: f64,
    /// The servers that its own load connects to.
    pub endpoint: Endpoint,
    /// Hosts from which the load comes, as `ssh://HOST`; empty if it comes from this one.
    pub drivers: Vec<String>,
    /// Rate of an open loop, in events a second over all connections; `None` for a closed loop.
    pub rate: Option<Rate>,
    /// The traffic that it replays, in place of a script's events.
    pub traffic: Option<Traffic>,
    /// Queries that take long: their limit, their plans and answers.
    pub queries: Queries,
    /// Background loads.
    pub background: Vec<Background>,
    /// What is done to its systems while its load runs.
    pub step_events: Vec<StepEvent>,
    /// Whether the systems' limits of I/O apply while it runs.
    pub limit_io: bool,
    /// Whether to wait for pending writes after each trial.
    pub drain: bool,
    /// How stacks of servers are sampled; `None` samples no stacks.
    pub stacks: Option<StackSampling>,
    /// The earlier step that this one repeats, to show the effect of the steps between.
    pub repeats: Option<String>,
    /// Whether the script's command `check` runs after each trial. The trial fails if it finds wrong data.
    pub check: bool,
    /// How often the system is killed under the load after each trial, then started again and checked.
    pub crashes: u32,
    /// A shell command that runs before each trial.
    pub before: Option<String>,
    /// A shell command that runs after each trial.
    pub after: Option<String>,
    /// Ids of the systems that do not run it.
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
    /// Whether it fills the tables.
    pub fn is_load(&self) -> bool {
        self.measure == Measure::Load
    }

    /// The command of its script.
    pub(crate) fn command(&self) -> Command {
        if self.is_load() { Command::Prepare } else { Command::Run }
    }

    /// The number of events that ends a trial, if one does.
    pub(crate) fn events(&self) -> Option<u32> {
        match self.measure {
            Measure::Events(events) => Some(events),
            _ => None,
        }
    }

    /// The limit of latency for which its trials search the highest rate. `None` if they do not search.
    pub(crate) fn search(&self) -> Option<FindRecord> {
        match self.measure {
            Measure::Search(find) => Some(find),
            _ => None,
        }
    }

    /// Whether servers are asked for the plans of all statements. They are not asked about a few long queries, because
    /// old servers execute parts of a query to explain it.
    pub(crate) fn notes_statements(&self) -> bool {
        !self.is_load() && self.queries.explain != Explained::Nothing && self.events().is_none()
    }

    /// Whether the system of this id runs it.
    pub fn is_for(&self, system: &str) -> bool {
        !self.not_for.iter().any(|without| without == system)
    }

    /// Whether it certainly changes no data: it only runs a built-in workload that reads.
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

    /// Whether it differs or fails on data that it has changed itself: statements of logged traffic and of events assume
    /// the data as it was before.
    pub(crate) fn needs_its_data(&self) -> bool {
        self.traffic.is_some() || !self.step_events.is_empty()
    }

    /// The step id of a background load in results and reports.
    pub fn background_id(&self, background: &Background) -> String {
        format!("{}.{}", self.id, background.id)
    }

    /// Sets its seconds. Scales the times at which background clients join, and those of its events.
    pub fn set_seconds(&mut self, seconds: f64) {
        let factor = seconds / self.seconds;
        self.background.iter_mut().for_each(|background| background.stretch(factor));
        self.step_events.iter_mut().for_each(|event| event.stretch(factor));
        self.seconds = seconds;
    }

    /// Whether something happens in it at a certain time: clients of a background load join, or it has events.
    pub(crate) fn has_time_axis(&self) -> bool {
        self.has_joins() || !self.step_events.is_empty()
    }

    /// Whether clients of a background load join over time.
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
