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
    /// Version of the Dyno that runs it.
    pub dyno_version: String,
    /// Seed of all random choices of the run.
    pub seed: u64,
    /// Factor on the plan's table sizes and times; 1 for none.
    pub scale: f64,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// The host on which it began.
    pub host: HostRecord,
    pub command_line: String,
    /// The plan's claims.
    pub claims: Vec<ClaimRecord>,
    /// Number of planned rounds. It is the maximum if the number depends on the results.
    pub rounds: u32,
    /// Number of times that the rounds may be judged before the run's end; 1 if the number of rounds is fixed.
    pub looks: u32,
    pub correction: Correction,
    /// Whether rounds that neighbours disturbed count as replicates.
    pub counts_disturbed: bool,
    /// The plan's ladders.
    pub ladders: Vec<LadderRecord>,
    /// Names of the counters that reports show, as the plan writes them.
    pub counters: Vec<String>,
    /// Id of a run whose rounds are spread over hosts, the same in the files of all its tasks; `None` for a
    /// run on one host.
    pub spread_id: Option<String>,
    /// The comparison that the run makes for a search; `None` for a run of a plan.
    pub search: Option<SearchRecord>,
}

/// How the verdicts of a run account for its number of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// The probability of any false alarm is limited, by reversals of whole rounds. The least number of
    /// rounds does not grow with the number of tests. Tests that share no rounds are judged by
    /// [`Self::Holm`].
    #[default]
    #[serde(rename = "max-t")]
    MaxT,
    /// The probability of any false alarm is limited, by the p-value of each test alone. The least number of rounds
    /// grows with the number of tests.
    Holm,
    /// The expected share of false alarms among the alarms is limited. Meant for exploration.
    Fdr,
    /// The probability of a false alarm is limited in each test.
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

/// A chain of systems, each with one change from the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderRecord {
    /// Its id in the plan.
    pub id: String,
    /// The ids of its systems, from the first to the last; at least two.
    pub systems: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRecord {
    /// Its id in the plan.
    pub id: String,
    /// The claim as an expression that can be judged.
    pub expression: String,
    /// The claim in words.
    pub says: String,
    /// The published figure.
    pub published: Option<f64>,
    /// Its source.
    pub source: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ResumptionRecord {
    /// When, in milliseconds since 1970 UTC.
    pub resumed_at_ms: i64,
    /// The host at that time.
    pub host: HostRecord,
    /// Changes of the host since the run began, one sentence each.
    pub differences: Vec<String>,
}

/// How a time budget was divided, based on the first rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allocation {
    pub budget_seconds: f64,
    /// Rounds that were measured before.
    pub pilot_rounds: u32,
    /// Rounds of the run.
    pub rounds: u32,
    /// Measured time of a system in a step in a round.
    pub seconds_per_trial: f64,
    /// Time of a round that is not measured, in seconds, if known.
    pub restart_seconds: Option<f64>,
    /// Standard deviation of the logarithm of a ratio between instances, if known.
    pub between_instances: Option<f64>,
    /// Standard deviation of the logarithm of a ratio between slices, if known.
    pub between_slices: Option<f64>,
}

/// A test that later rounds do not measure, because at a look it was decided, or its verdict was out of reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftTest {
    /// The id of its step.
    pub step: String,
    pub clients: u32,
    /// The last round in which it was measured, from 0.
    pub last_round: u32,
}
