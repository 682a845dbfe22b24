//! Differences between two systems of a run: settings that their servers reported, limits on the host, and steps.

use std::collections::{BTreeMap, BTreeSet};

use dyno_engine::{Catalogue, SystemName};
use dyno_judge::SettingDifference;
use dyno_settings::{Difference, Product, SystemFacts, SystemVariables, drift};
use dyno_store::{Run, SystemRecord};

use super::beside;
use crate::reported;

/// Returns the differences of two systems that can affect a test. Settings are compared by what they mean in each
/// system's version, or by name if a version is unknown.
pub(super) fn differences(run: &Run, base: &str, candidate: &str, test: &str) -> Vec<SettingDifference> {
    let (Some(of_base), Some(of_candidate)) = (system(run, base), system(run, candidate)) else {
        return Vec::new();
    };
    let mut differences = of_servers(of_base, of_candidate);
    differences.extend(beside::limits(of_base, of_candidate));
    differences.extend(beside::steps(run, base, candidate, test));
    differences
}

/// Returns the settings in which the servers of two systems differ. If a value is a long list, only the items that
/// differ are kept.
pub(crate) fn between(run: &Run, base: &str, candidate: &str) -> Vec<SettingDifference> {
    let (Some(base), Some(candidate)) = (system(run, base), system(run, candidate)) else {
        return Vec::new();
    };
    match (variables(base), variables(candidate)) {
        (Some(base), Some(candidate)) => drift(&base, &candidate).into_iter().map(shortened).collect(),
        _ => plain(base, candidate),
    }
}

/// Converts a difference like [`known`], but leaves out the items of a list that both systems have.
fn shortened(difference: Difference) -> SettingDifference {
    let (base, candidate) = difference.values();
    SettingDifference { base, candidate, ..known(difference) }
}

fn of_servers(base: &SystemRecord, candidate: &SystemRecord) -> Vec<SettingDifference> {
    match (variables(base), variables(candidate)) {
        (Some(base), Some(candidate)) => drift(&base, &candidate).into_iter().map(known).collect(),
        _ => plain(base, candidate),
    }
}

/// Returns the facts about a system of a run that the settings audit needs. Returns `None` if the system's version is
/// unknown.
pub(crate) fn facts(run: &Run, id: &str) -> Option<SystemFacts> {
    let system = system(run, id)?;
    Some(reported::facts(system, product(system)?))
}

fn system<'a>(run: &'a Run, id: &str) -> Option<&'a SystemRecord> {
    run.systems.iter().find(|system| system.id == id)
}

/// Finds the product of a system by its name in the catalogue. A system without a name there, such as an image, has
/// the product that its server reported.
fn product(system: &SystemRecord) -> Option<Product> {
    let of_catalogue = || {
        let name: SystemName = system.name.parse().ok()?;
        let catalogue = Catalogue::load().ok()?;
        Product::of(&catalogue.find(&name).ok()?, name.storage_engine.as_deref()).ok()
    };
    of_catalogue().or_else(|| Product::reported(&system.variables))
}

fn variables(system: &SystemRecord) -> Option<SystemVariables> {
    Some(SystemVariables::new(&system.id, product(system)?, system.variables.iter().cloned()))
}

fn known(difference: Difference) -> SettingDifference {
    SettingDifference {
        name: difference.name,
        base: difference.a.map(|side| side.value),
        candidate: difference.b.map(|side| side.value),
        about: difference.about,
        acts_on: difference.acts_on,
    }
}

fn plain(base: &SystemRecord, candidate: &SystemRecord) -> Vec<SettingDifference> {
    let of =
        |system: &SystemRecord| -> BTreeMap<String, String> { system.variables.iter().cloned().collect() };
    let (of_base, of_candidate) = (of(base), of(candidate));
    let names: BTreeSet<&String> = of_base.keys().chain(of_candidate.keys()).collect();
    let differing = names.into_iter().filter(|name| of_base.get(*name) != of_candidate.get(*name));
    differing
        .map(|name| SettingDifference {
            name: name.clone(),
            base: of_base.get(name).cloned(),
            candidate: of_candidate.get(name).cloned(),
            about: None,
            acts_on: Vec::new(),
        })
        .collect()
}
