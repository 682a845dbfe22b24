//! The section "Why": the largest differences of a run, each with its evidence in words, and its proof if there is one.

use dyno_judge::{AmountChange, Explanation};
use dyno_stats::Interval;
use serde::Serialize;

use crate::answers::explain::{ProofReport, sentences, setting_line, title};
use crate::sections::section::Section;

pub(crate) const TITLE: &str = "Why";
pub(crate) const HOW_TO_READ: &str = "The largest decided differences, with what changed. A setting that acts on what changed is a suspect; only \
     comparisons with and without it prove a cause (dyno explain --prove).";

/// What was found of why systems of a run differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// Explanations of tests against the plan's base, with which drill-downs open.
    pub explanations: Vec<Explanation>,
    /// The largest differences.
    pub why: Vec<Why>,
}

/// Why two systems differ in a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    pub base: String,
    pub candidate: String,
    pub step: String,
    pub clients: u32,
    /// Throughput of the candidate as a multiple of the base's.
    pub ratio: f64,
    pub interval: Option<Interval>,
    /// The evidence in sentences.
    pub says: Vec<String>,
    pub proof: ProofState,
    #[serde(skip)]
    title: String,
    /// The cost that changed most tellingly.
    #[serde(skip)]
    pub(crate) cost: Option<ChangedCost>,
    /// The setting that acts on the most telling change, with its two values.
    #[serde(skip)]
    pub(crate) suspect: Option<String>,
}

/// A cost of an operation that clearly changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChangedCost {
    /// Its name without a unit.
    pub(crate) name: String,
    /// As a multiple of the base's.
    pub(crate) ratio: f64,
}

impl ChangedCost {
    fn of(costs: &[AmountChange]) -> Option<Self> {
        let clear = costs.iter().filter(|cost| cost.is_clear && cost.ratio.is_some());
        let cost = clear.max_by(|a, b| a.weight.total_cmp(&b.weight))?;
        Some(Self { name: cost.name.trim_end_matches(" µs").to_owned(), ratio: cost.ratio? })
    }
}

/// Whether the settings that make a difference were found by measuring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ProofState {
    /// The results file has comparisons for it.
    Made {
        /// What they show, in sentences.
        says: Vec<String>,
    },
    /// It was not tried.
    NotMade {
        /// What proves it.
        command: String,
    },
    /// There are no settings to take away.
    Impossible {
        /// In words that follow a colon.
        reason: String,
    },
}

impl ProofState {
    pub fn of(report: &ProofReport) -> Self {
        Self::Made { says: report.sentences() }
    }
}

impl Why {
    pub fn of(explanation: &Explanation, proof: ProofState) -> Self {
        let Explanation { base, candidate, step, clients, ratio, interval, .. } = explanation;
        Self {
            base: base.clone(),
            candidate: candidate.clone(),
            step: step.clone(),
            clients: *clients,
            ratio: *ratio,
            interval: *interval,
            says: sentences(explanation),
            proof,
            title: title(explanation),
            cost: ChangedCost::of(&explanation.costs),
            suspect: explanation
                .settings
                .iter()
                .find(|suspect| !suspect.evidence.is_empty())
                .map(|suspect| setting_line(&suspect.setting)),
        }
    }

    fn line(&self) -> String {
        let proof = match &self.proof {
            ProofState::Made { says } => says.join(" "),
            ProofState::NotMade { command } => format!("Not proven: `{command}` measures it."),
            ProofState::Impossible { reason } => format!("Not proven: {reason}."),
        };
        format!("{}. {} {proof}", self.title, self.says.join(" "))
    }
}

/// None without a decided difference.
pub(crate) fn section(why: &[Why]) -> Option<Section> {
    (!why.is_empty()).then(|| Section {
        title: TITLE,
        how_to_read: vec![HOW_TO_READ.to_owned()],
        items: why.iter().map(Why::line).collect(),
        ..Section::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_difference_has_its_evidence_and_its_proof_or_what_would_prove_it() {
        let why = |proof| Why::of(&sample::planned(), proof);
        let command = "dyno explain 3 new --test point-query --clients 4 --prove".to_owned();
        let all = [
            why(ProofState::of(&sample::proof())),
            why(ProofState::NotMade { command }),
            why(ProofState::Impossible { reason: "they are two engines".to_owned() }),
        ];
        let section = section(&all).unwrap();
        for (item, words) in section.items.iter().zip([
            "query_cache_type = 1 alone: 0.58 [0.56, 0.60] of 0.57",
            "Not proven: `dyno explain 3 new --test point-query --clients 4 --prove` measures it.",
            "Not proven: they are two engines.",
        ]) {
            assert!(
                item.starts_with("new against old: point-query at 4 clients. new does 0.57 times"),
                "{item}"
            );
            assert!(item.contains("new reads sbtest1 by a full scan, old by index k_1."), "{item}");
            assert!(item.contains(words), "{item}");
        }
        let reports = crate::Reports { why: all.to_vec(), ..sample::reports(&sample::run(1)) };
        let options = crate::RenderOptions { color: false, width: 10_000 };
        for format in [crate::Format::Text, crate::Format::Markdown] {
            let text = crate::render(&reports, format, &options);
            assert!(text.contains("Why") && text.contains("by a full scan"), "{text}");
        }
    }

    #[test]
    fn without_a_difference_there_is_no_section() {
        assert!(section(&[]).is_none());
    }
}
