//! Plans: what is compared, under which load, how often.

mod builtin;
mod claim;
mod confinement;
mod error;
mod read;
mod scale;
#[cfg(test)]
mod schema;
mod select;
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
pub use error::{Place, PlanError, Problem};
pub use scale::Scale;
pub use step::{Beside, Command, Step};
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
    /// Passes of every system through every step at every number of clients.
    pub trials: Trials,
    /// How often a trial is run again that was disturbed: other processes or guests used the host's CPU.
    pub rerun_disturbed: u32,
    /// What is done to a system before each of its trials.
    pub between_trials: BetweenTrials,
    /// Whether a load may be left out where an earlier run has kept the same data of the same system.
    pub reuse_data: bool,
    /// Whether idle cores are kept from halting and sleeping while it runs.
    pub keep_cores_awake: bool,
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

/// How often every system goes through every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trials {
    /// So many times.
    Fixed(u32),
    /// Until every candidate's verdict is certain, at most so many times.
    UntilDecided {
        /// Trials after which a step is left undecided.
        max: u32,
    },
}

impl Trials {
    /// The fewest trials of a step: as planned, or those before which nothing can be decided.
    pub fn min(self) -> u32 {
        match self {
            Self::Fixed(trials) => trials,
            Self::UntilDecided { max } => max.min(dyno_stats::PAIRS_MIN as u32),
        }
    }

    /// The most trials of a step.
    pub fn max(self) -> u32 {
        match self {
            Self::Fixed(trials) => trials,
            Self::UntilDecided { max } => max,
        }
    }
}

/// What is done to a system before each of its trials, loads apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BetweenTrials {
    /// Nothing: it goes on with what the trial before left in its caches and tables.
    #[default]
    Keep,
    /// Its server is shut down and started again: cold caches, the same tables.
    Restart,
    /// Its data is put back to what it was after the load, and its server started on it.
    Restore,
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
