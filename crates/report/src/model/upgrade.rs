//! What an upgrade does to the traffic of a server.

use dyno_judge::{ReplayedTest, Safety, SettingDifference, UpgradeFound};
use dyno_stats::Margin;
use serde::Serialize;

/// The answer to the question whether an upgrade is safe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpgradeReport {
    pub safety: Safety,
    /// The version before, by its id in the plan.
    pub from: UpgradedSystem,
    /// The version after.
    pub to: UpgradedSystem,
    /// The traffic file.
    pub traffic: String,
    /// Differences in time below it do not matter.
    pub margin: Margin,
    /// The run in the results file; none if nothing was measured.
    pub run: Option<i64>,
    /// Why nothing was measured.
    pub refusal: Option<Refusal>,
    /// What was found.
    pub found: Option<UpgradeFound>,
    /// All digests.
    pub replay: Option<ReplayedTest>,
    /// The plans of slower digests that differ.
    pub plans: Vec<DigestPlans>,
    /// The command that proves which settings make the whole traffic slower. `None` if settings cannot be the cause.
    pub proof: Option<String>,
    /// Settings that only one version has, or whose value differs.
    pub settings: Vec<SettingDifference>,
    /// Why the figures may not hold.
    pub warnings: Vec<String>,
}

/// One of the two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UpgradedSystem {
    pub id: String,
    /// The version that the server reports.
    pub version: Option<String>,
    /// How its data came about, in words that follow "the data".
    pub data: Option<String>,
}

/// A server that refuses the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// What failed, in a line.
    pub message: String,
    /// What the server said last.
    pub log: Vec<String>,
    /// What to do instead, if known.
    pub path: Option<String>,
}

/// The plans of a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DigestPlans {
    pub statement: String,
    /// Before the upgrade.
    pub from: String,
    /// After it.
    pub to: String,
}
