//! Differences between two systems of a run.

use std::collections::BTreeSet;

use dyno_store::SystemRecord;
use serde::Serialize;

/// A setting in which a system differs from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// A server variable, a key of `confinement`, or `engine`.
    pub name: String,
    /// `None` if the value is unknown, because it was not set and the server does not report it.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The engine, the requested settings and the limits that differ between two systems, by name. If only one system
/// requests a setting, the effective value of the other system is used. Settings with equal effective values are
/// not listed.
pub(super) fn changes(before: &SystemRecord, after: &SystemRecord) -> Vec<SettingChange> {
    let engines = [before, after].map(|system| Some(system.name.clone()));
    let both = [before, after];
    let settings = names(both.map(|system| Some(&system.requested_settings)));
    let limits = names(both.map(|system| system.confinement.as_ref()));
    let changed = |name: &str, values: [Option<String>; 2]| {
        let [before, after] = values;
        (before != after).then(|| SettingChange { name: name.to_owned(), before, after })
    };
    let of_setting = |name: &&str| changed(name, setting(name, both));
    let of_limit = |name: &&str| {
        let value = |system: &SystemRecord| text(system.confinement.as_ref()?.get(name)?);
        changed(&format!("confinement.{name}"), both.map(value))
    };
    let mut found: Vec<SettingChange> = settings.iter().filter_map(of_setting).collect();
    // `skip_x` cancels the variable `x`. If both are found, only `x` is listed, because they describe one change.
    let variables: Vec<String> = found.iter().map(|change| change.name.replace('-', "_")).collect();
    found.retain(|change| {
        let taken_back = change.name.replace('-', "_").strip_prefix("skip_").map(str::to_owned);
        taken_back.is_none_or(|variable| !variables.contains(&variable))
    });
    found.extend(limits.iter().filter_map(of_limit));
    changed("engine", engines).into_iter().chain(found).collect()
}

/// The keys of two objects, sorted.
fn names(objects: [Option<&serde_json::Value>; 2]) -> BTreeSet<&str> {
    let keys = objects.into_iter().flatten().filter_map(|object| object.as_object());
    keys.flat_map(serde_json::Map::keys).map(String::as_str).collect()
}

/// A setting's values in two systems. If both servers report the effective value, the effective values are used,
/// because the same value can be written in several ways.
fn setting(name: &str, systems: [&SystemRecord; 2]) -> [Option<String>; 2] {
    let effective = systems.map(|system| effective(name, system));
    if effective.iter().all(Option::is_some) {
        return effective;
    }
    let asked = |system: &SystemRecord| text(system.requested_settings.get(name)?);
    let [before, after] = effective;
    [asked(systems[0]).or(before), asked(systems[1]).or(after)]
}

fn effective(name: &str, system: &SystemRecord) -> Option<String> {
    let name = name.replace('-', "_");
    system.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
}

/// A value as text; `None` for a null, which means that the setting is not set.
fn text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
