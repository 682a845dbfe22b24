//! Plans: what is compared, under which load, how often.

mod builtin;
mod claim;
mod confinement;
mod context;
mod cores;
mod error;
mod read;
mod renamed;
mod rounds;
mod scale;
#[cfg(test)]
mod schema;
mod select;
mod slicing;
mod step;
#[cfg(test)]
mod studies;
mod suite;
mod system;
mod table;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod versions;

use std::collections::BTreeMap;

pub use builtin::{BuiltinPlan, builtin_plans};
pub use claim::Claim;
pub use cores::KeepCoresAwake;
pub use error::{PlanError, Problem, SourceLocation};
pub use rounds::{BetweenSteps, Decision, Rounds};
pub use scale::Scale;
pub use slicing::Slicing;
pub use step::{Background, Command, Step};
pub use system::{Source, System};
pub use versions::Version;

/// An experiment, as its TOML file describes it, checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name, by which runs are listed.
    pub name: String,
    /// What the plan is about, in a line.
    pub title: String,
    /// Position in [`systems`](Self::systems) of the one that the others are compared to.
    pub base: usize,
    /// How many rounds: every system gets a fresh instance and goes through all steps, again.
    pub rounds: Rounds,
    /// Whether every round loads its tables anew; else the first round loads and is measured, and later ones put its data
    /// back.
    pub load_every_round: bool,
    /// Whether a fresh instance reads its tables before its first step after the loads.
    pub warm: bool,
    /// What is done to the systems between the steps of a round.
    pub between_steps: BetweenSteps,
    /// How often a block (a step at a number of clients in a round) is run again that was disturbed: other processes or
    /// guests used the host's CPU.
    pub rerun_disturbed: u32,
    /// Whether a load may be left out where an earlier run has kept the same data of the same system.
    pub reuse_data: bool,
    /// Whether idle cores are kept from halting and sleeping while it runs.
    pub keep_cores_awake: KeepCoresAwake,
    /// The tables; none where the workloads know themselves.
    pub data: Option<Data>,
    /// What is compared.
    pub systems: Vec<System>,
    /// What the systems are put through, in order.
    pub steps: Vec<Step>,
    /// What it says will be found.
    pub claims: Vec<Claim>,
    /// Scales that have names here.
    pub scales: BTreeMap<String, Scale>,
    /// The scale that it was brought to; 1 is as written.
    pub scale: f64,
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

impl Data {
    /// Rows in all tables.
    pub fn rows_total(self) -> u64 {
        u64::from(self.tables) * self.rows
    }
}
