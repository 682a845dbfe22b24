//! Rules of the audit, and two forms that most rules take: a comparison of systems, or a check of each system.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::facts::SystemFacts;
use super::host::HostChecks;
use super::names;

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFinding {
    /// The rule's id, which is the same in all releases.
    pub rule: String,
    pub severity: Severity,
    /// The ids of the systems that the finding concerns. Empty if it concerns the host.
    pub systems: Vec<String>,
    /// The explanation, in one line.
    pub explanation: String,
    /// The advice, in one line.
    pub advice: String,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The systems are not comparable.
    Error,
    /// A difference in the results may come from this finding rather than from the engines.
    Warning,
    Note,
}

impl Severity {
    /// The severity as a word, such as `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A description of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleInfo {
    /// The rule's id, which is the same in all releases.
    pub id: &'static str,
    /// The severity of the rule's findings.
    pub severity: Severity,
    /// What the rule looks for.
    pub about: &'static str,
    /// What to do about the rule's findings.
    pub advice: String,
}

/// What to do about a finding.
pub(super) enum Advice {
    Do(&'static str),
    /// Set a setting. Each kind of system has its own name for the setting. The second field is the end of the
    /// sentence.
    Set(&'static [OfKind], &'static str),
}

/// A test whether a system is of a kind, and the name of the setting in that kind.
pub(super) type OfKind = (fn(&SystemFacts) -> bool, &'static str);

impl Advice {
    /// The advice for some systems. It names the setting of each kind of system among them. If none of the systems has
    /// the setting, it names the settings of all kinds.
    fn words(&self, systems: &[&SystemFacts]) -> String {
        let (settings, end) = match self {
            Self::Do(words) => return (*words).to_owned(),
            Self::Set(settings, end) => (settings, end),
        };
        let of_kinds = settings.iter().filter(|(is_of_kind, _)| systems.iter().any(|it| is_of_kind(it)));
        let mut names: Vec<&str> = of_kinds.map(|(_, names)| *names).collect();
        if names.is_empty() {
            names = settings.iter().map(|(_, names)| *names).collect();
        }
        format!("set {}{end}", names.join(", "))
    }
}

/// The input of rules.
pub(super) struct Scene<'a> {
    pub(super) systems: &'a [SystemFacts],
    pub(super) host: &'a HostChecks,
}

/// An observation of a rule: the systems that it concerns, and its explanation.
pub(super) type Hit = (Vec<String>, String);

/// A rule. The last field looks for findings. The other fields describe the rule, and are also in its [`RuleInfo`].
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    pub(super) about: &'static str,
    pub(super) advice: Advice,
    pub(super) look: fn(&Scene<'_>) -> Vec<Hit>,
}

impl Rule {
    pub(super) fn info(&self) -> RuleInfo {
        let Self { id, severity, about, advice, .. } = self;
        RuleInfo { id, severity: *severity, about, advice: advice.words(&[]) }
    }

    pub(super) fn findings(&self, scene: &Scene<'_>) -> Vec<AuditFinding> {
        let finding = |(systems, explanation): Hit| {
            let concerned: Vec<_> = scene.systems.iter().filter(|it| systems.contains(&it.id)).collect();
            AuditFinding {
                rule: self.id.to_owned(),
                severity: self.severity,
                explanation,
                advice: self.advice.words(&concerned),
                systems,
            }
        };
        (self.look)(scene).into_iter().map(finding).collect()
    }
}

/// A finding shortens the list of systems with the most frequent value to "the others" if the list has at least this
/// many systems.
const OTHERS_MIN: usize = 4;

/// Returns one finding if a value differs between systems. Systems whose value is unknown are left out. `say` puts
/// a value into words that follow the systems' names, as in `a and b: crc32; c: none`.
pub(super) fn differ<T: Ord>(
    scene: &Scene<'_>,
    value: impl Fn(&SystemFacts) -> Option<T>,
    say: impl Fn(&T) -> String,
) -> Vec<Hit> {
    let mut groups: BTreeMap<T, Vec<String>> = BTreeMap::new();
    for system in scene.systems {
        if let Some(value) = value(system) {
            groups.entry(value).or_default().push(system.id.clone());
        }
    }
    if groups.len() < 2 {
        return Vec::new();
    }
    let all = scene.systems.iter().map(|system| system.id.as_str());
    let largest = groups.values().map(Vec::len).max().unwrap_or_default();
    let are_all = groups.values().map(Vec::len).sum::<usize>() == scene.systems.len();
    let mut parts: Vec<String> = Vec::new();
    let mut others = None;
    for (value, systems) in &groups {
        let said = say(value);
        if are_all && others.is_none() && systems.len() == largest && largest >= OTHERS_MIN {
            others = Some(format!("the others: {said}"));
        } else {
            parts.push(format!("{}: {said}", names::join(systems, &all)));
        }
    }
    parts.extend(others);
    vec![(groups.into_values().flatten().collect(), parts.join("; "))]
}

/// Returns a finding for each system to which the rule applies. Systems with the same text share a finding, as in
/// `a may …` and `a and b: may …`.
pub(super) fn each(scene: &Scene<'_>, say: impl Fn(&SystemFacts) -> Option<String>) -> Vec<Hit> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for system in scene.systems {
        let Some(text) = say(system) else { continue };
        match said.iter_mut().find(|(known, _)| *known == text) {
            Some((_, systems)) => systems.push(system.id.clone()),
            None => said.push((text, vec![system.id.clone()])),
        }
    }
    let all = scene.systems.iter().map(|system| system.id.as_str());
    let hit = |(text, systems): (String, Vec<String>)| {
        let explanation = match systems.as_slice() {
            [only] => format!("{only} {text}"),
            _ => format!("{}: {text}", names::join(&systems, &all)),
        };
        (systems, explanation)
    };
    said.into_iter().map(hit).collect()
}

/// Returns a finding about the host, if there is an explanation.
pub(super) fn of_host(explanation: Option<String>) -> Vec<Hit> {
    explanation.into_iter().map(|explanation| (Vec::new(), explanation)).collect()
}
