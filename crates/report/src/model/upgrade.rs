//! What an upgrade does to the traffic of a server.

use dyno_judge::{ReplayedTest, Safety, SettingDifference, UpgradeFound};
use dyno_stats::Margin;
use serde::Serialize;

/// The answer to the question whether an upgrade is safe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpgradeReport {
    pub safety: Safety,
    /// The system before the upgrade.
    pub from: UpgradedSystem,
    /// The system after the upgrade.
    pub to: UpgradedSystem,
    /// The name of the traffic file.
    pub traffic: String,
    /// Differences in time within this margin do not matter.
    pub margin: Margin,
    /// The number of the run in the results file. `None` if nothing was measured.
    pub run: Option<i64>,
    /// The server's refusal of the data, if this is why nothing was measured.
    pub refusal: Option<Refusal>,
    /// What the comparison of the versions found. `None` if it could not be made.
    pub found: Option<UpgradeFound>,
    /// The figures of all digests.
    pub replay: Option<ReplayedTest>,
    /// The plans of slower digests. Digests with the same plan on both versions are left out.
    pub plans: Vec<DigestPlans>,
    /// The command that proves which settings make the traffic as a whole slower. `None` if settings cannot be the
    /// cause.
    pub proof: Option<String>,
    /// Settings that only one version has, or whose value differs.
    pub settings: Vec<SettingDifference>,
    /// Reasons why the figures may be wrong.
    pub warnings: Vec<String>,
}

/// The system before or after an upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UpgradedSystem {
    pub id: String,
    /// The version that the server reports.
    pub version: Option<String>,
    /// Where the version's data comes from, in words that follow "the data".
    pub data: Option<String>,
}

/// Why a server refuses the data of the other version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// What failed, in one line.
    pub message: String,
    /// The last lines of the server's log.
    pub log: Vec<String>,
    /// Another way to upgrade, if one is known.
    pub path: Option<String>,
}

/// The plans of a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DigestPlans {
    pub statement: String,
    /// The plan before the upgrade.
    pub from: String,
    /// The plan after the upgrade.
    pub to: String,
}
