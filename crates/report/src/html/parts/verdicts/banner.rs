//! The banner on comparability: findings of the audit, and settings that differ.

use std::collections::BTreeMap;

use dyno_store::Run;
use maud::{Markup, html};
use serde::Deserialize;

use crate::wording::number;

/// Variables that the banner does not list as differences, because they differ between any two servers, or describe
/// where a server runs and not how it works.
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

/// The severity of a finding that is only information.
const NOTE: &str = "note";

/// Rules of the audit whose findings `crate::wording::in_force` puts into words.
const IN_FORCE: [&str; 2] = ["same-in-force", "setting-not-in-force"];

/// Largest number of differing variables that the banner lists.
const DIFFERENCES_MAX: usize = 400;

/// The parts of an audit that are shown (`dyno_settings::Audit` as JSON). Missing and unknown keys are ignored, so
/// audits of other versions can be read.
#[derive(Debug, Default, Deserialize)]
struct Audit {
    #[serde(default)]
    durability: Vec<SystemDurability>,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct SystemDurability {
    system: String,
    class: String,
}

#[derive(Debug, Deserialize)]
struct Finding {
    #[serde(default)]
    rule: String,
    #[serde(default)]
    severity: String,
    explanation: String,
    #[serde(default)]
    advice: String,
}

impl Audit {
    fn of(run: &Run) -> Self {
        run.audit.as_ref().and_then(|audit| Self::deserialize(audit).ok()).unwrap_or_default()
    }

    fn is_grave(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity != NOTE)
    }
}

/// Sentences on the findings that make a comparison doubtful. Findings on settings that are not in force are left
/// out, because reports have separate sentences for them.
pub(crate) fn grave(run: &Run) -> Vec<String> {
    let is_shown = |it: &Finding| it.severity != NOTE && !IN_FORCE.contains(&it.rule.as_str());
    let findings = Audit::of(run).findings.into_iter().filter(is_shown);
    let sentence = |Finding { explanation, advice, .. }: Finding| {
        let parts = [explanation.trim_end_matches('.'), advice.trim_end_matches('.')];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}.", parts.join("; "))
    };
    findings.map(sentence).collect()
}

/// The banner; empty if there is nothing to report.
pub(crate) fn section(run: &Run) -> Markup {
    let differing = differing(run);
    let audit = Audit::of(run);
    html! {
        @if run.audit.is_some() || !differing.is_empty() {
            section #comparable class=(if audit.is_grave() { "banner warn" } else { "banner" }) {
                h2 { "Can they be compared?" }
                @if !audit.durability.is_empty() {
                    dl.facts {
                        @for (class, systems) in by_class(&audit.durability, run.systems.len()) {
                            div { dt { (systems) } dd { (survives(class)) } }
                        }
                    }
                }
                @if run.audit.is_some() && audit.findings.is_empty() {
                    p { "The audit of durability, settings and host found nothing that makes the comparison unfair." }
                }
                ul.warnings { @for finding in &audit.findings { (line(finding)) } }
                @if !differing.is_empty() { (settings(run, &differing)) }
            }
        }
    }
}

fn line(finding: &Finding) -> Markup {
    html! {
        li {
            @if !finding.severity.is_empty() { span class={ "badge " (finding.severity) } { (finding.severity) } " " }
            (finding.explanation)
            @if !finding.advice.is_empty() { span.fine { " " (finding.advice) } }
        }
    }
}

/// Returns each durability class with the names of its systems. The classes are in the order of their first systems.
/// `systems_of_run` is the number of all systems, including the systems of unknown durability, which `durability`
/// lacks.
fn by_class(durability: &[SystemDurability], systems_of_run: usize) -> Vec<(&str, String)> {
    let mut classes: Vec<(&str, Vec<&str>)> = Vec::new();
    for SystemDurability { system, class } in durability {
        match classes.iter_mut().find(|(known, _)| known == class) {
            Some((_, systems)) => systems.push(system),
            None => classes.push((class, vec![system])),
        }
    }
    match classes.as_slice() {
        [(class, systems)] if systems.len() > 1 && systems.len() == systems_of_run => {
            vec![(class, "all systems".to_owned())]
        }
        _ => classes.into_iter().map(|(class, systems)| (class, systems.join(", "))).collect(),
    }
}

/// What survives a crash in a durability class.
fn survives(class: &str) -> &str {
    match class {
        "durable" => "durable: a commit survives a power cut",
        "second" => "a power cut may lose the last second",
        "os" => "a power cut may lose the last commits",
        "none" => "a crash may lose everything",
        "unknown" => "durability unknown",
        other => other,
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

/// Variables whose values differ between at least two systems. Variables that the plan sets come first.
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
    fn systems_of_a_class_of_durability_are_named_together() {
        let among = |systems_of_run: usize, classes: &[(&str, &str)]| -> Vec<(String, String)> {
            let systems: Vec<SystemDurability> = classes
                .iter()
                .map(|(system, class)| SystemDurability {
                    system: (*system).to_owned(),
                    class: (*class).to_owned(),
                })
                .collect();
            let classes = by_class(&systems, systems_of_run).into_iter();
            classes.map(|(class, systems)| (class.to_owned(), systems)).collect()
        };
        let of = |classes: &[(&str, &str)]| among(classes.len(), classes);
        let all = |class: &str, systems: &str| (class.to_owned(), systems.to_owned());
        assert_eq!(of(&[("a", "os"), ("b", "os")]), [all("os", "all systems")]);
        assert_eq!(
            among(3, &[("a", "os"), ("b", "os")]),
            [all("os", "a, b")],
            "nothing is known of the third"
        );
        assert_eq!(of(&[("a", "os"), ("b", "second"), ("c", "os")]), [all("os", "a, c"), all("second", "b")]);
        assert_eq!(of(&[("a", "os")]), [all("os", "a")]);
    }

    #[test]
    fn an_audit_is_read_as_far_as_it_is_understood() {
        let mut run = sample::run(1);
        run.audit = Some(json!({
            "durability": [{ "system": "maria", "class": "second" }],
            "findings": [{ "rule": "r", "severity": "warning", "systems": [], "explanation": "Not alike.", "advice": "Set it." }],
        }));
        let page = section(&run).into_string();
        for words in ["banner warn", "maria", "the last second", "Not alike.", "Set it."] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert_eq!(grave(&run), ["Not alike; Set it."]);
        for rule in IN_FORCE {
            run.audit = Some(
                json!({ "findings": [{ "rule": rule, "severity": "error", "explanation": "Said elsewhere." }] }),
            );
            assert_eq!(grave(&run), [""; 0]);
            assert!(section(&run).into_string().contains("Said elsewhere."));
        }
        for odd in [json!(null), json!([]), json!({ "durability": 3, "findings": "no" })] {
            run.audit = Some(odd);
            assert!(section(&run).into_string().contains("Can they be compared?"));
        }
    }
}
