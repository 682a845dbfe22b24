//! The comparability audit.

mod durability;
pub(crate) mod facts;
mod host;
mod names;
mod promise;
mod promise_change;
mod promise_kept;
mod rule;
mod rules;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::durability::Durability;
pub use self::facts::{SystemFacts, SystemLimits};
pub use self::host::HostChecks;
pub use self::promise::{CrashKind, Loss, Promise};
pub use self::rule::{AuditFinding, RuleInfo, Severity};
use self::rule::{Rule, Scene};

/// The result of an audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// The durability of each system.
    pub durability: Vec<SystemDurability>,
    /// Findings of the rules, the most severe first.
    pub findings: Vec<AuditFinding>,
}

/// The durability of a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemDurability {
    pub system: String,
    pub class: Durability,
}

/// Applies all rules to systems and their host.
pub fn audit(systems: &[SystemFacts], host: &HostChecks) -> Audit {
    let scene = Scene { systems, host };
    let mut findings: Vec<AuditFinding> = rules::all().flat_map(|rule| rule.findings(&scene)).collect();
    findings.sort_by_key(|finding| finding.severity);
    let durability = systems
        .iter()
        .map(|system| SystemDurability { system: system.id.clone(), class: system.durability() })
        .collect();
    Audit { durability, findings }
}

/// All rules by topic.
pub fn rules() -> Vec<RuleInfo> {
    rules::all().map(Rule::info).collect()
}

impl Audit {
    /// The highest severity that was found; `None` if there are no findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).min()
    }
}
