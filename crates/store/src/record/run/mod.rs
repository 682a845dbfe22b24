//! A run, as it is known before its trials: its plan, systems, steps and hosts.

pub(crate) mod attempt;
pub(crate) mod crash;
pub(crate) mod host;
pub(crate) mod instance;
pub(crate) mod price;
pub(crate) mod search;
pub(crate) mod step;
pub(crate) mod system;

use serde::{Deserialize, Serialize};

use self::host::HostRecord;
use self::search::SearchRecord;

/// One execution of a plan, with the facts that are known at its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRecord {
    /// The plan's name (`first-look`).
    pub plan_name: String,
    /// The plan's title, one line.
    pub plan_title: String,
    /// The text of the plan file.
    pub plan_text: String,
    /// Version of Dyno that started the run.
    pub dyno_version: String,
    /// Seed of all random choices of the run.
    pub seed: u64,
    /// Factor by which the plan's table sizes and times are multiplied; 1 leaves them unchanged.
    pub scale: f64,
    /// When the run started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// The host on which the run began.
    pub host: HostRecord,
    pub command_line: String,
    /// The plan's claims.
    pub claims: Vec<ClaimRecord>,
    /// Number of planned rounds. If the number depends on the results, it is the maximum.
    pub rounds: u32,
    /// Number of looks (interim analyses), which includes the analysis at the end. 1 if the number of rounds is
    /// fixed.
    pub looks: u32,
    pub correction: Correction,
    /// Whether rounds count as replicates although other processes or other virtual machines disturbed them.
    pub counts_disturbed: bool,
    /// The plan's ladders.
    pub ladders: Vec<LadderRecord>,
    /// Names of the counters that reports show, as the plan writes them.
    pub counters: Vec<String>,
    /// Id of a run whose rounds are spread over hosts. It is the same in the files of all tasks of the run. `None`
    /// for a run on one host.
    pub spread_id: Option<String>,
    /// The comparison that the run makes for a search; `None` if the run does not belong to a search.
    pub search: Option<SearchRecord>,
}

/// How the verdicts of a run account for its number of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// Limits the probability of any false alarm, by a permutation test that reverses the signs of all log ratios of
    /// a round together. The number of rounds that an alarm needs does not grow with the number of tests. Tests that
    /// share no rounds are judged by [`Self::Holm`].
    #[default]
    #[serde(rename = "max-t")]
    MaxT,
    /// Limits the probability of any false alarm, by Holm's adjustment of the p-values of single tests. The number of
    /// rounds that an alarm needs grows with the number of tests.
    Holm,
    /// Limits the expected share of false alarms among all alarms. It is meant for exploration.
    Fdr,
    /// Limits the probability of a false alarm for each test alone, without a correction.
    None,
}

impl Correction {
    /// The word that plans, the results file and the command line use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holm => "holm",
            Self::MaxT => "max-t",
            Self::Fdr => "fdr",
            Self::None => "none",
        }
    }
}

/// A sequence of systems. Each system after the first differs from the previous system by one change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderRecord {
    /// The ladder's id in the plan.
    pub id: String,
    /// The ids of the ladder's systems, from the first to the last. There are at least two.
    pub systems: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRecord {
    /// The claim's id in the plan.
    pub id: String,
    /// The claim as an expression of the claim language.
    pub expression: String,
    /// The claim in words.
    pub says: String,
    /// The published figure.
    pub published: Option<f64>,
    /// The source of the published figure.
    pub source: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ResumptionRecord {
    /// When the run was resumed, in milliseconds since 1970 UTC.
    pub resumed_at_ms: i64,
    /// The host on which the run was resumed.
    pub host: HostRecord,
    /// Changes of the host since the run began, each in one sentence.
    pub differences: Vec<String>,
}

/// How a time budget was divided into rounds and times of trials, based on the first rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allocation {
    pub budget_seconds: f64,
    /// Number of rounds that were measured before the division.
    pub pilot_rounds: u32,
    /// Number of rounds of the run after the division.
    pub rounds: u32,
    /// Measured time of a trial, in seconds.
    pub seconds_per_trial: f64,
    /// Median time to start all systems of a round, to wait until they are at rest and to warm them, in seconds; `None`
    /// if the run started no system.
    pub restart_seconds: Option<f64>,
    /// Standard deviation between instances of the logarithm of the ratio of two systems; `None` if unknown.
    pub between_instances: Option<f64>,
    /// Standard deviation between slices of the logarithm of the ratio of two systems; `None` if unknown.
    pub between_slices: Option<f64>,
}

/// A test that later rounds do not measure. A look has decided the test, or has shown that the remaining rounds
/// cannot decide it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftTest {
    /// The id of the test's step.
    pub step: String,
    pub clients: u32,
    /// The last round in which the test was measured, from 0.
    pub last_round: u32,
}
