//! Plans: what is compared, under which load, how often.

mod builtin;
mod error;
mod read;
mod table;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_engine::{Entry, SystemName};
use dyno_load::Script;
use dyno_store::Operation;

pub use builtin::{BuiltinPlan, builtin_plans};
pub use error::{Place, PlanError, Problem};

/// An experiment, as its TOML file describes it, checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name, by which runs are listed.
    pub name: String,
    /// What the plan is about, in a line.
    pub title: String,
    /// Position in [`systems`](Self::systems) of the one that the others are compared to.
    pub base: usize,
    /// Passes of every system through every step at every number of clients.
    pub trials: u32,
    /// The tables; none where the workloads know themselves.
    pub data: Option<Data>,
    /// What is compared.
    pub systems: Vec<System>,
    /// What the systems are put through, in order.
    pub steps: Vec<Step>,
    /// The file's text, for the results file.
    pub text: String,
}

/// The data set, given to every step as its options `tables` and `table_size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// How many tables.
    pub tables: u32,
    /// Rows in each.
    pub rows: u64,
}

/// A system under test.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name in this plan.
    pub id: String,
    /// Engine, version and storage engine, as the plan writes them.
    pub engine: SystemName,
    /// What the catalogue has under that name.
    pub entry: Entry,
    /// Server variables; for SQLite, pragmas.
    pub settings: BTreeMap<String, String>,
}

/// A workload, and how it is run.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in this plan.
    pub id: String,
    /// The part of the reports that it stands in.
    pub group: String,
    /// Which of the script's commands.
    pub command: Command,
    /// The script.
    pub script: Script,
    /// The script's options, over what the data set gives.
    pub options: BTreeMap<String, String>,
    /// What its rate counts.
    pub operation: Operation,
    /// Numbers of connections, each tried in turn.
    pub clients: Vec<u32>,
    /// Measured time of a trial, in seconds; a load takes as long as it takes.
    pub seconds: f64,
    /// Time before that, in seconds, which no result counts.
    pub warmup_seconds: f64,
}

/// Which of a script's commands a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Fills the tables afresh: `cleanup`, then `prepare`, until it is done.
    Prepare,
    /// Puts load on them for a time.
    Run,
}

impl Command {
    /// Its name, in plans as in scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Run => "run",
        }
    }
}
