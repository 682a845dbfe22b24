//! The section on methods and provenance.

use dyno_store::{HostRecord, Run};
use maud::{Markup, html};
use serde_json::Value;

use crate::model::Reports;
use crate::wording::{number, phrases};

/// Methods, provenance and the plan.
pub(crate) fn section(run: &Run, reports: &Reports) -> Markup {
    html! {
        section #methods {
            h2 { "Methods and provenance" }
            ul.method { @for line in method_lines(reports) { li { (line) } } }
            div.two {
                div {
                    h3 { "Run" }
                    dl.facts.wide {
                        (fact("plan", &run.record.plan_name))
                        (fact("started", &reports.run.started_at.replace('T', " ").replace('Z', " UTC")))
                        (fact("state", reports.run.state))
                        (fact("trials", &format!("{} of {}", reports.run.trials_completed, reports.run.trials_planned)))
                        (fact("seed", &reports.run.seed))
                        (fact("scale", &reports.run.scale.to_string()))
                        (fact("Dyno", &reports.run.dyno_version))
                        (fact("command", &run.record.command_line))
                    }
                }
                div {
                    h3 { "Host" }
                    dl.facts.wide { @for (name, value) in host_facts(&run.record.host) { (fact(&name, &value)) } }
                }
            }
            h3 { "Systems" }
            div.scroll { (systems(run)) }
            @for resumption in &run.resumptions {
                p.note { "The run ended early and was continued."
                    @if !resumption.differences.is_empty() { " Since it began: " (resumption.differences.join(" ")) } }
            }
            button #csv type="button" hidden { "Every second in this page as CSV" }
            details { summary { "The plan, word for word" } pre tabindex="0" { (run.record.plan_text) } }
        }
    }
}

/// Sentences on how figures and verdicts are computed.
fn method_lines(reports: &Reports) -> Vec<String> {
    let rule = &reports.rule;
    let margin = number::margin(rule);
    let error = phrases::error(rule);
    vec![
        "In each round, every system gets a fresh instance (a server on its own copy of the data) and runs all steps in order. \
         Some properties of a server are fixed at its start and differ from start to start. Therefore intervals are computed \
         from rounds."
            .to_owned(),
        "Within a step, systems take turns in slices of a few hundredths of a second, in alternating order, so that a drift of \
         the machine affects all systems alike. Loads, steps at a given rate and steps with background loads run as whole \
         trials."
            .to_owned(),
        "A rate is the median of its rounds. The ratio of a round is that of neighbouring slices, or of whole trials. The ratio \
         of a test is the middle of its rounds (Hodges and Lehmann), or the geometric mean of two to five rounds."
            .to_owned(),
        format!(
            "With at least {} rounds, the interval of a ratio is exact (Wilcoxon). It only assumes that rounds vary equally in \
             both directions. With two to five rounds, it is Student's t interval of the logarithms. With one round, it comes \
             from slices, holds for this pair of servers only, and gives no verdict.",
            dyno_stats::ROUNDS_MIN
        ),
        format!(
            "A verdict counts differences from {margin}: faster or slower, {error}, for all candidates together; the same, if \
             the whole interval is within {margin}. Other tests are not decided: their systems may still differ."
        ),
        "Only cells with a verdict are tinted; the tint is stronger further from 1: 5%, 15%, 40%, 2×.".to_owned(),
        "Latency counts from the time at which an event was due. It is kept in HDR histograms, which merge without loss; \
         percentiles are never averaged."
            .to_owned(),
        "Server CPU is the CPU time of the server's process while it was loaded. Its CPU time between its slices is shown \
         separately, because deferred work cannot be attributed to slices."
            .to_owned(),
        "Reads, writes and flushes are counted at the data's device during a system's slices, so they include write-back of \
         other systems in that time."
            .to_owned(),
    ]
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

fn systems(run: &Run) -> Markup {
    html! {
        table.list {
            caption.hidden-text { "The systems under test" }
            thead { tr {
                th scope="col" { "system" } th scope="col" { "engine" } th scope="col" { "version" }
                th scope="col" { "settings asked for" } th scope="col" { "confinement" }
            } }
            tbody {
                @for system in &run.systems {
                    tr {
                        th scope="row" { (system.id) @if system.is_base { " (base)" } }
                        td { (system.name) }
                        td {
                            (system.engine_version.as_deref().unwrap_or("–"))
                            @if let Some(encryption) = &system.encryption { div { "encryption: " (encryption) } }
                            @if let Some(image) = &system.image { div { "image: " (image) } }
                        }
                        td.code {
                            @if let Some(profile) = &system.profile { div { "profile " (profile) } }
                            @for (name, value) in facts(&system.requested_settings) { div { code { (name) " = " (value) } } }
                        }
                        td.code {
                            @if let Some(confinement) = &system.confinement {
                                @for (name, value) in facts(confinement) { div { code { (name) " = " (value) } } }
                            } @else { "none" }
                        }
                    }
                }
            }
        }
    }
}

/// The known facts about the host, as names and values.
fn host_facts(host: &HostRecord) -> impl Iterator<Item = (String, String)> {
    let readable = move |(name, fact): (&'static str, Option<String>)| {
        Some(match name {
            "memory_bytes" => ("memory".to_owned(), number::bytes(host.memory_bytes?)),
            "swap_bytes" => ("swap".to_owned(), number::bytes(host.swap_bytes?)),
            _ => (name.replace('_', " "), fact?),
        })
    };
    host.facts().into_iter().filter_map(readable)
}

/// The members of an object as names and text. Names of nested members are joined by dots.
fn facts(value: &Value) -> Vec<(String, String)> {
    let Value::Object(members) = value else { return Vec::new() };
    let mut facts = Vec::new();
    for (name, value) in members {
        match value {
            Value::Null => {}
            Value::String(text) => facts.push((name.clone(), text.clone())),
            Value::Object(_) => facts.extend(
                self::facts(value).into_iter().map(|(inner, text)| (format!("{name}.{inner}"), text)),
            ),
            other => facts.push((name.clone(), other.to_string())),
        }
    }
    facts
}
