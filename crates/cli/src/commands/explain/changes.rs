//! The changes between two systems of a plan, which a proof takes apart.

use std::collections::{BTreeMap, BTreeSet};

use dyno_engine::Family;
use dyno_judge::{Explanation, SettingDifference, Suspect};
use dyno_lab::{Plan, Source, System};
use dyno_report::{ChangedSetting, ProofChange};
use dyno_settings::{
    Assignment, Product, SystemFacts, is_of_version, newest_name, normal, together, translate,
};

/// Settings that are changed together, with the values that they get; none for the server's default.
type Change = BTreeMap<String, Option<String>>;

/// What differs between two systems of a plan.
pub(super) struct Changes {
    /// Those that evidence speaks for come first.
    pub(super) groups: Vec<Change>,
    /// Number of the groups that evidence speaks for.
    pub(super) suspects: usize,
    /// What differs besides settings, in words.
    pub(super) others: Vec<String>,
    base: BTreeMap<String, String>,
}

impl Changes {
    /// The changes from one system of a plan to another, by position. Between two versions, what their servers have as
    /// defaults is made alike too, as far as the base's version can be given the candidate's value.
    pub(super) fn between(plan: &Plan, base: usize, candidate: usize, evidence: &Explanation) -> Self {
        let (base, candidate) = (&plan.systems[base], &plan.systems[candidate]);
        let mut ranked = planned(base, candidate, evidence);
        if place(&base.source) != place(&candidate.source) {
            let named: BTreeSet<String> =
                ranked.iter().flat_map(|(_, change)| change.keys().cloned()).collect();
            let defaults = defaults(base, evidence).into_iter();
            ranked.extend(defaults.filter(|(_, change)| change.keys().all(|name| !named.contains(name))));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let speaks_for = |(rank, _): &&(usize, Change)| {
            evidence.settings.get(*rank).is_some_and(|suspect| !suspect.evidence.is_empty())
        };
        Self {
            suspects: ranked.iter().take_while(speaks_for).count(),
            groups: ranked.into_iter().map(|(_, change)| change).collect(),
            others: others(base, candidate),
            base: base.settings.clone(),
        }
    }

    /// The settings of some groups.
    pub(super) fn of(&self, groups: &[usize]) -> Change {
        groups.iter().flat_map(|group| self.groups[*group].clone()).collect()
    }

    /// Each group for a report, with what it does to the promises of the base.
    pub(super) fn told(&self, base: Option<&SystemFacts>) -> Vec<ProofChange> {
        let told = |group: &Change| ProofChange {
            settings: group
                .iter()
                .map(|(name, value)| ChangedSetting {
                    name: name.clone(),
                    base: self.base.get(name).cloned(),
                    candidate: value.clone(),
                })
                .collect(),
            promise: base.and_then(|base| base.change_of_promise(group)),
        };
        self.groups.iter().map(told).collect()
    }
}

/// What the plan sets otherwise, each with its place in the evidence.
fn planned(base: &System, candidate: &System, evidence: &Explanation) -> Vec<(usize, Change)> {
    let family = base.source.entry().map_or(Family::Mysql, |entry| entry.family);
    let value = |name: String| {
        let value = candidate.settings.get(&name).cloned();
        (name, value)
    };
    let of_group = |group: Vec<String>| {
        let place = group.iter().map(|name| rank(evidence, family, name)).min();
        (place.unwrap_or(evidence.settings.len()), group.into_iter().map(value).collect())
    };
    together(family, differing(base, candidate)).into_iter().map(of_group).collect()
}

/// The candidate's values of other settings that differ, as the base's version writes them, each with its place in the
/// evidence.
fn defaults(base: &System, evidence: &Explanation) -> Vec<(usize, Change)> {
    let entry = base.source.entry();
    let product = entry.and_then(|entry| Product::of(entry, base.source.storage_engine()).ok());
    let Some(product) = product else { return Vec::new() };
    let written = |(rank, suspect): (usize, &Suspect)| {
        let SettingDifference { name, candidate, .. } = &suspect.setting;
        let value = candidate.clone().filter(|_| !is_of_version(product.family, name))?;
        let assignment = Assignment { value, ..Assignment::default() };
        let translation = translate(&product, &[(name.clone(), assignment)].into()).ok()?;
        let change: Change =
            translation.settings.into_iter().map(|(name, value)| (name, Some(value))).collect();
        (!change.is_empty()).then_some((rank, change))
    };
    evidence.settings.iter().enumerate().filter_map(written).collect()
}

/// The place of a setting in the evidence; after all, if it has none there.
fn rank(evidence: &Explanation, family: Family, name: &str) -> usize {
    let plain = name.to_ascii_lowercase().replace('-', "_");
    let newest = newest_name(family, &plain);
    let place = evidence.settings.iter().position(|suspect| suspect.setting.name == newest);
    place.unwrap_or(evidence.settings.len())
}

/// Names of the settings that a plan gives two systems other values of.
fn differing(base: &System, candidate: &System) -> Vec<String> {
    let names: BTreeSet<&String> = base.settings.keys().chain(candidate.settings.keys()).collect();
    let value = |system: &System, name: &String| system.settings.get(name).map(|value| normal(value));
    names.into_iter().filter(|name| value(base, name) != value(candidate, name)).cloned().collect()
}

/// What differs besides settings.
fn others(base: &System, candidate: &System) -> Vec<String> {
    let mut others = Vec::new();
    if place(&base.source) != place(&candidate.source) {
        others.push(format!("the engine ({} and {})", place(&base.source), place(&candidate.source)));
    }
    if base.confinement != candidate.confinement {
        others.push("the limits on the host".to_owned());
    }
    others
}

/// What tells an engine from another: its name, or the folder of a build.
fn place(source: &Source) -> String {
    match source {
        Source::Basedir { installation, .. } => {
            format!("{} in {}", source.name(), installation.root.display())
        }
        _ => source.name(),
    }
}
