//! Plans: which systems are compared, in which steps, in how many rounds.

mod builtin;
mod context;
mod derive;
mod keys;
mod read;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod studies;
mod syntax;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use dyno_store::{ClaimRecord, Correction, LadderRecord, SearchRecord};

pub use builtin::{BuiltinPlan, builtin_plans};
pub use derive::mixture::Mixture;
pub use derive::probe::{Changes, Probed};
pub use derive::scale::Scale;
pub use derive::upgrade::Upgrade;
pub use derive::verdicts::TooFewRounds;
pub use derive::versus::{Contender, Script, Versus};
pub use keys::cores::{KeepCoresAwake, PinThreads};
pub(crate) use keys::crash::CrashTests;
pub use keys::rounds::{BetweenSteps, Decision, LeaveDecided, Rounds};
pub use keys::steps::background::Background;
pub(crate) use keys::steps::command::Command;
pub use keys::steps::event::{EventAction, StepEvent};
pub use keys::steps::measure::{Measure, SliceSeconds};
pub use keys::steps::queries::{Explained, Queries};
pub use keys::steps::slicing::Freeze;
pub use keys::steps::stacks::StackSampling;
pub use keys::steps::step::{Endpoint, Step, Traffic};
pub use keys::systems::data::{DataOrigin, SystemData};
pub use keys::systems::pooler::SystemPooler;
pub use keys::systems::price::{HardwareChoice, HardwareNeed, PriceList};
pub use keys::systems::source::Source;
pub use keys::systems::system::System;
pub use syntax::error::{PlanError, Problem, SourceLocation};

/// A checked plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name, for lists of runs.
    pub name: String,
    /// One line on what the plan is about.
    pub title: String,
    /// Index in [`systems`](Self::systems) of the base.
    pub base: usize,
    /// Index in [`systems`](Self::systems) of the anchor, if the plan names one.
    pub anchor: Option<usize>,
    /// Number of rounds.
    pub rounds: Rounds,
    /// Whether decided tests are no longer measured.
    pub leave_decided: LeaveDecided,
    /// How verdicts account for the number of tests.
    pub correction: Correction,
    /// Whether every round loads the tables and measures the load. Otherwise only the first round does, and later
    /// rounds restore its data.
    pub load_every_round: bool,
    /// Number of rounds that share one load. `None` if all rounds use the first load.
    pub rounds_per_load: Option<u32>,
    /// Whether a fresh instance reads its tables and its log before its first step after the loads.
    pub warm: bool,
    /// What is done to the systems between the steps of a round.
    pub between_steps: BetweenSteps,
    /// Whether a round starts a system only after the previous one has stopped.
    pub one_at_a_time: bool,
    /// How often a disturbed block is rerun. A block is disturbed if other processes or guests used the host's CPU.
    /// `None` reruns a disturbed block once, but not after a few reruns in a row were disturbed too.
    pub rerun_disturbed: Option<u32>,
    /// Whether a load is skipped if an earlier run has kept the same data of the same system.
    pub reuse_data: bool,
    /// Whether idle cores are kept from halting while the plan runs.
    pub keep_cores_awake: KeepCoresAwake,
    pub pin_threads: PinThreads,
    pub freeze: Freeze,
    /// Longest wait in a round, in seconds, until servers that were started are at rest.
    pub rest_seconds_max: f64,
    /// The data set; `None` if the workloads define their own.
    pub data: Option<Data>,
    pub systems: Vec<System>,
    /// The steps of a round, in order.
    pub steps: Vec<Step>,
    /// Claims about the results.
    pub claims: Vec<ClaimRecord>,
    /// Crash tests after the rounds, if the plan has any.
    pub crash: Option<CrashTests>,
    /// Chains of systems. Reports show how much each system of a chain costs compared with the previous one.
    pub ladders: Vec<LadderRecord>,
    /// Names of the servers' counters that reports show.
    pub counters: Vec<String>,
    /// Named scales.
    pub scales: BTreeMap<String, Scale>,
    /// The scale that was applied. With 1, the plan is as written.
    pub scale: f64,
    /// The file's text, for the results file.
    pub text: String,
    /// Files that were read in addition to the plan's file: suites, workloads, profiles, price lists.
    pub files: Vec<PathBuf>,
    /// The comparison that a search derived this plan for. A plan that a user wrote has none.
    pub search: Option<SearchRecord>,
}

impl Plan {
    /// The positions of the systems that run the step at the position `step`.
    pub fn systems_of(&self, step: usize) -> impl Iterator<Item = usize> + use<'_> {
        let runs = move |(_, system): &(usize, &System)| self.steps[step].is_for(&system.id);
        self.systems.iter().enumerate().filter(runs).map(|(position, _)| position)
    }

    /// The id of the base.
    pub(crate) fn base_id(&self) -> &str {
        &self.systems[self.base].id
    }

    /// Whether a system starts with kept data of an earlier run or of another system.
    pub(crate) fn reuses_data_of(&self, system: usize) -> bool {
        self.reuse_data || self.systems[system].data_settings.is_some()
    }

    /// Number of data sets that the plan loads. Each system has its own data set, but if the systems of a sweep or
    /// ladder share data, they have a single data set.
    pub(crate) fn data_sets(&self) -> usize {
        let shares = |system: &&System| system.data_settings.is_some();
        let group = |system: &System| match &system.configuration {
            Some(configuration) => Some(configuration.sweep.clone()),
            None => system.ladder.clone(),
        };
        // A control shares the data set of its base.
        let bases = self.systems.iter().filter(|system| system.control_of.is_none());
        let groups: BTreeSet<_> = bases.filter(shares).map(group).collect();
        self.systems.iter().filter(|system| !shares(system)).count() + groups.len()
    }

    /// Returns whether a round measures the loads. `load_round` is the first round that measures them.
    pub(crate) fn loads_in(&self, round: u32, load_round: u32) -> bool {
        let is_next = |rounds: u32| round >= load_round && (round - load_round).is_multiple_of(rounds);
        self.load_every_round || round == load_round || self.rounds_per_load.is_some_and(is_next)
    }

    /// Returns how many of a number of rounds measure the loads.
    pub(crate) fn load_rounds(&self, rounds: u32) -> u32 {
        match self.rounds_per_load {
            _ if self.load_every_round => rounds,
            Some(each) => rounds.div_ceil(each),
            None => rounds.min(1),
        }
    }

    /// Whether the loaded data of any system is kept, to be restored later.
    pub(crate) fn keeps_data(&self) -> bool {
        let is_put_back = !self.load_every_round && self.rounds.max() > 1;
        let is_shared = self.systems.iter().any(|system| system.data_settings.is_some());
        self.reuse_data || is_shared || is_put_back || self.between_steps == BetweenSteps::Restore
    }
}

/// The data set, given to every step as its options `tables` and `table_size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    pub tables: u32,
    pub rows: u64,
}

impl Data {
    /// Rows in all tables.
    pub fn rows_total(self) -> u64 {
        u64::from(self.tables) * self.rows
    }
}
