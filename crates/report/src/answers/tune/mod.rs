//! What a search for better settings has found, as text, Markdown or JSON.

mod sections;
mod sentences;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_judge::{ProbeEffect, TuneProbe, Tuned};
use dyno_stats::Margin;
use serde::Serialize;

use crate::format::json;
use crate::format::markdown;
use crate::format::text::Lines;
use crate::wording::number::counted;
use crate::{Format, RenderOptions};

/// A search for better settings with what it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneReport {
    pub plan: String,
    /// The system whose settings were the base.
    pub system: String,
    /// Its engine, as the plan names it.
    pub engine: String,
    /// The steps that it was tuned for; of several the mean counts.
    pub steps: Vec<String>,
    /// The numbers of clients of these steps.
    pub clients: Vec<u32>,
    /// Memory that a server could use, in bytes.
    pub memory_bytes: u64,
    /// The settings that were tried. Sets of values have their indices.
    pub settings: Vec<TriedSetting>,
    /// What was not tried, and why.
    pub left_out: Vec<LeftOutOfTuning>,
    /// Number of candidates that the search began with.
    pub candidates: usize,
    pub margin: Margin,
    /// The probability that what is recommended is not better by more than the margin, at most.
    pub alpha: f64,
    pub tuned: Tuned,
    /// None if nothing better was found.
    pub recommendation: Option<Recommendation>,
    /// The comparisons, in their order.
    pub comparisons: Vec<TuneComparison>,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedSetting {
    /// Its newest name.
    pub name: String,
    /// Why another value may be better.
    pub why: String,
    /// What is given up with it.
    pub gives_up: Option<String>,
    pub values: Vec<String>,
}

/// A setting, or a value of one, that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutOfTuning {
    pub name: String,
    pub value: Option<String>,
    /// Why, in words that follow the name.
    pub reason: String,
}

/// Settings that are better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// All of the system's settings, by the server's own names, those that its plan gives it included.
    pub settings: BTreeMap<String, String>,
    /// Those that are new or have another value.
    pub changed: Vec<String>,
    pub effect: Option<ProbeEffect>,
    /// What the base promises for a power cut.
    pub promise_of_base: String,
    /// What the recommended settings promise, by what the server reported with them.
    pub promise: String,
    /// What is given up, a line each.
    pub gives_up: Vec<String>,
}

/// A comparison of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneComparison {
    /// Its run in the results file; none if it was refused before it was run.
    pub run: Option<i64>,
    pub probe: TuneProbe,
    pub rounds: u32,
    pub effect: Option<ProbeEffect>,
    /// Why there is no effect.
    pub refused: Option<String>,
    /// Time that it took, in seconds.
    pub seconds: f64,
}

/// Writes what was found. `options` only affects the text format.
pub fn render_tuning(report: &TuneReport, format: Format, options: &RenderOptions) -> String {
    match format {
        Format::Json => json::text(report),
        Format::Text => {
            let mut out = Lines::new(options);
            out.heading(&report.title());
            for sentence in report.answer() {
                out.paragraph(&sentence);
            }
            if let Some(toml) = report.toml() {
                out.line("");
                toml.lines().for_each(|line| out.line(&format!("    {line}")));
            }
            for section in report.sections() {
                out.section(&section);
            }
            out.text
        }
        Format::Markdown => {
            let mut blocks = vec![format!("# {}", markdown::escaped(&report.title()))];
            blocks.extend(report.answer().iter().map(|sentence| markdown::escaped(sentence)));
            blocks.extend(report.toml().map(|toml| format!("```toml\n{toml}```")));
            blocks.extend(report.sections().iter().flat_map(markdown::section));
            blocks.join("\n\n") + "\n"
        }
    }
}

impl TuneReport {
    fn title(&self) -> String {
        let clients: Vec<String> = self.clients.iter().map(u32::to_string).collect();
        let at = match self.clients.as_slice() {
            [clients] => counted(u64::from(*clients), "client"),
            _ => format!("{} clients", clients.join(" and ")),
        };
        format!("Settings for {} ({}): {} at {at}", self.system, self.engine, self.steps.join(", "))
    }

    /// The recommended settings as a plan has them.
    fn toml(&self) -> Option<String> {
        let settings = &self.recommendation.as_ref()?.settings;
        let lines = settings.iter().map(|(name, value)| format!("{} = {}\n", key(name), quoted(value)));
        Some(format!("[system.settings]\n{}", lines.collect::<String>()))
    }
}

/// A name as a key of TOML: quoted unless it is a bare key.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// A value as a basic string of TOML.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
