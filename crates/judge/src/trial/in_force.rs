//! Requested settings that are not in force, and systems that are the same because of this.

use std::collections::{BTreeMap, BTreeSet};

use dyno_settings::{NotInForce, Product, SystemFacts};
use dyno_store::{Run, SystemRecord};
use serde::Serialize;

use crate::trial::member::Member;

/// A system whose server does not use all of its requested settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SystemNotInForce {
    pub system: String,
    /// The requested settings that are not in force, by name.
    pub settings: Vec<NotInForce>,
    /// Earlier systems of the plan that are the same as this system, because the settings that should distinguish
    /// them are not in force.
    pub same_as: Vec<String>,
}

/// For each system of a run, the facts about its requested and reported settings, and the requested settings that
/// are not in force.
pub(crate) struct InForce<'a> {
    systems: BTreeMap<&'a str, (SystemFacts, Vec<NotInForce>)>,
}

impl<'a> InForce<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        let of = |system: &'a SystemRecord| {
            let facts = facts(system)?;
            let not_in_force = facts.not_in_force();
            Some((system.id.as_str(), (facts, not_in_force)))
        };
        Self { systems: run.systems.iter().filter_map(of).collect() }
    }

    /// The settings of a system that are not in force.
    pub(crate) fn not(&self, system: &str) -> &[NotInForce] {
        self.systems.get(system).map_or(&[], |(_, settings)| settings)
    }
}

/// The systems of a run that have settings that are not in force, or that are the same as an earlier system for
/// this reason. They are in the plan's order. Controls are left out.
pub(crate) fn not_in_force(run: &Run, in_force: &InForce<'_>) -> Vec<SystemNotInForce> {
    let is_subject = |system: &&SystemRecord| system.control_of.is_none();
    let systems: Vec<&SystemRecord> = run.systems.iter().filter(is_subject).collect();
    let told = systems.iter().enumerate().map(|(at, system)| SystemNotInForce {
        system: system.id.clone(),
        settings: in_force.not(&system.id).to_vec(),
        same_as: systems[..at]
            .iter()
            .filter(|earlier| same((earlier, in_force), (system, in_force)).is_some())
            .map(|earlier| earlier.id.clone())
            .collect(),
    });
    told.filter(|it| !it.settings.is_empty() || !it.same_as.is_empty()).collect()
}

/// The settings that should distinguish the two systems but are not in force, if the systems are the same because
/// of this; `None` otherwise.
pub(crate) fn same_systems(base: Member<'_>, candidate: Member<'_>) -> Option<Vec<NotInForce>> {
    same((record(base)?, &base.evidence.in_force), (record(candidate)?, &candidate.evidence.in_force))
}

fn record(member: Member<'_>) -> Option<&SystemRecord> {
    member.run().systems.iter().find(|system| system.id == member.system)
}

fn same(
    (a, of_a): (&SystemRecord, &InForce<'_>),
    (b, of_b): (&SystemRecord, &InForce<'_>),
) -> Option<Vec<NotInForce>> {
    let is_told = !of_a.not(&a.id).is_empty() || !of_b.not(&b.id).is_empty();
    let are_alike = (&a.name, &a.engine_version, a.origin, &a.image, &a.confinement)
        == (&b.name, &b.engine_version, b.origin, &b.image, &b.confinement);
    if !is_told || !are_alike {
        return None;
    }
    let ((a, _), (b, _)) = (of_a.systems.get(a.id.as_str())?, of_b.systems.get(b.id.as_str())?);
    a.same_in_force(b)
}

/// The names of the settings that differ between systems of a sweep.
pub(crate) fn swept_settings(systems: &[&SystemRecord]) -> BTreeSet<String> {
    let asked: Vec<BTreeMap<String, String>> = systems.iter().map(|system| system.asked()).collect();
    let names: BTreeSet<&String> = asked.iter().flat_map(BTreeMap::keys).collect();
    let differs = |name: &&String| asked.windows(2).any(|two| two[0].get(*name) != two[1].get(*name));
    names.into_iter().filter(differs).cloned().collect()
}

/// The facts about a system in the form that the audit of settings uses. They contain no limits. `None` if the
/// system never ran.
pub(crate) fn facts(system: &SystemRecord) -> Option<SystemFacts> {
    let product = Product::reported(&system.variables).or_else(|| {
        let version = system.engine_version.as_ref()?.parse().ok()?;
        system.name.starts_with("sqlite").then(|| Product::sqlite(version))
    })?;
    let variables = system.variables.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    Some(SystemFacts {
        id: system.id.clone(),
        product,
        variables: variables.collect(),
        asked: system.asked(),
        limits: None,
    })
}

#[cfg(test)]
mod tests;
