//! Whether systems may be compared, and what a comparison of them can mean.

mod durability;
mod facts;
mod host;
mod rule;
mod rules;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::durability::Durability;
pub use self::facts::SystemFacts;
pub(crate) use self::facts::redo_log_bytes;
pub use self::host::HostChecks;
pub use self::rule::{AuditFinding, RuleInfo, Severity};
use self::rule::{Rule, Scene};

/// What is to be known before systems are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// What each system promises about commits.
    pub durability: Vec<SystemDurability>,
    /// What the rules found, the gravest first.
    pub findings: Vec<AuditFinding>,
}

/// What a system promises about commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemDurability {
    pub system: String,
    pub class: Durability,
}

/// Looks at systems and the host that they run on through the eyes of every rule.
pub fn audit(systems: &[SystemFacts], host: &HostChecks) -> Audit {
    let scene = Scene { systems, host };
    let mut findings: Vec<AuditFinding> =
        rules::all().flat_map(|rule| rule.findings(&scene).collect::<Vec<_>>()).collect();
    findings.sort_by_key(|finding| finding.severity);
    let durability = systems
        .iter()
        .map(|system| SystemDurability { system: system.id.clone(), class: system.durability() })
        .collect();
    Audit { durability, findings }
}

/// Every rule there is, by topic.
pub fn rules() -> Vec<RuleInfo> {
    rules::all().map(Rule::info).collect()
}

impl Audit {
    /// The gravest that was found; none where nothing was.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).min()
    }
}
