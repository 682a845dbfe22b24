//! Whether the systems can be compared: what the audit found, and which settings differ.

use std::collections::BTreeMap;

use dyno_store::Run;
use maud::{Markup, html};
use serde_json::Value;

use crate::number;

/// Variables that are another in every server, or tell where it runs rather than how.
const OF_THE_INSTANCE: [&str; 16] = [
    "basedir",
    "config_file",
    "data_directory",
    "datadir",
    "general_log_file",
    "hba_file",
    "hostname",
    "ident_file",
    "log_error",
    "pid_file",
    "port",
    "server_uuid",
    "slow_query_log_file",
    "socket",
    "tmpdir",
    "unix_socket_directories",
];

/// Differing variables up to which all are listed.
const DIFFERENCES_MAX: usize = 400;

/// The banner.
pub(crate) fn section(run: &Run) -> Markup {
    let differing = differing(run);
    let classes = run.audit.as_ref().map(durability_classes).unwrap_or_default();
    let warnings = run.audit.as_ref().map(warnings).unwrap_or_default();
    html! {
        @if !(classes.is_empty() && warnings.is_empty() && differing.is_empty()) {
            section #comparable class=(if warnings.is_empty() { "banner" } else { "banner warn" }) {
                h2 { "Can they be compared?" }
                @if !classes.is_empty() {
                    dl.facts { @for (system, class) in &classes { div { dt { (system) } dd { (class) } } } }
                }
                @if !warnings.is_empty() { ul.warnings { @for warning in &warnings { li { (warning) } } } }
                @else if run.audit.is_some() { p { "The audit of durability and settings found nothing that speaks against it." } }
                @if !differing.is_empty() { (settings(run, &differing)) }
            }
        }
    }
}

fn settings(run: &Run, differing: &[(&str, Vec<Option<&str>>)]) -> Markup {
    html! {
        details {
            summary { (number::counted(differing.len() as u64, "setting")) @if differing.len() == 1 { " differs" } @else { " differ" } " between the systems" }
            div.scroll {
                table.list.settings {
                    caption.hidden-text { "Server variables that differ, by system" }
                    thead { tr {
                        th scope="col" { "variable" }
                        @for system in &run.systems { th scope="col" { (system.id) } }
                    } }
                    tbody {
                        @for (name, values) in differing.iter().take(DIFFERENCES_MAX) {
                            tr {
                                th scope="row" { code { (name) } }
                                @for value in values { td { @if let Some(value) = value { code { (value) } } @else { "–" } } }
                            }
                        }
                    }
                }
            }
            @if differing.len() > DIFFERENCES_MAX {
                p.fine { "The first " (DIFFERENCES_MAX) "; the results file has all." }
            }
        }
    }
}

/// Variables that at least two systems have and not all alike. Those that a plan asks for come first.
fn differing(run: &Run) -> Vec<(&str, Vec<Option<&str>>)> {
    let mut names: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for (at, system) in run.systems.iter().enumerate() {
        for (name, value) in &system.variables {
            names.entry(name).or_insert_with(|| vec![None; run.systems.len()])[at] = Some(value);
        }
    }
    let is_requested =
        |name: &str| run.systems.iter().any(|system| system.requested_settings.get(name).is_some());
    let differs = |values: &[Option<&str>]| {
        let mut known = values.iter().flatten();
        let first = known.next();
        known.any(|value| Some(value) != first)
    };
    let mut differing: Vec<_> = names
        .into_iter()
        .filter(|(name, values)| differs(values) && !OF_THE_INSTANCE.contains(name))
        .collect();
    differing.sort_by_key(|(name, _)| (!is_requested(name), *name));
    differing
}

/// What each system promises, as far as the audit says it under names that are known here.
fn durability_classes(audit: &Value) -> Vec<(String, String)> {
    let class =
        |value: &Value| ["durability", "class", "promise"].iter().find_map(|key| sentence(value.get(key)?));
    match audit.get("systems") {
        Some(Value::Array(systems)) => systems
            .iter()
            .filter_map(|system| {
                let id = ["id", "system", "name"].iter().find_map(|key| system.get(key)?.as_str())?;
                Some((id.to_owned(), class(system)?))
            })
            .collect(),
        Some(Value::Object(systems)) => {
            systems.iter().filter_map(|(id, system)| Some((id.clone(), class(system)?))).collect()
        }
        _ => Vec::new(),
    }
}

/// What the audit warns of.
fn warnings(audit: &Value) -> Vec<String> {
    let lists = ["warnings", "findings", "problems"].iter().filter_map(|key| audit.get(key)?.as_array());
    lists.flatten().filter_map(sentence).collect()
}

/// The words in a value: the value itself, or what its best-named member says.
fn sentence(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => ["says", "message", "sentence", "text", "class", "about"]
            .iter()
            .find_map(|key| sentence(value.get(key)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample;

    #[test]
    fn differing_settings_are_listed_those_of_the_plan_first() {
        let mut run = sample::run(1);
        let variables = |list: &[(&str, &str)]| {
            list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        run.systems[0].variables = variables(&[("a", "1"), ("port", "1"), ("same", "x"), ("z", "ON")]);
        run.systems[1].variables =
            variables(&[("a", "2"), ("port", "2"), ("same", "x"), ("z", "OFF"), ("own", "1")]);
        run.systems[1].requested_settings = json!({ "z": "OFF" });
        assert_eq!(
            differing(&run),
            [("z", vec![Some("ON"), Some("OFF"), None]), ("a", vec![Some("1"), Some("2"), None])]
        );
    }

    #[test]
    fn an_audit_is_read_as_far_as_it_is_understood() {
        let audit = json!({
            "systems": [{ "id": "a", "durability": "every commit" }, { "id": "b", "durability": { "class": "each second" } }, 7],
            "warnings": ["one", { "message": "two" }, { "unknown": 1 }],
        });
        assert_eq!(warnings(&audit), ["one", "two"]);
        let classes = durability_classes(&audit);
        assert_eq!(classes[1], ("b".to_owned(), "each second".to_owned()));
        for odd in [json!(null), json!([]), json!({ "systems": 3, "warnings": "no" })] {
            assert!(warnings(&odd).is_empty() && durability_classes(&odd).is_empty());
        }
    }
}
