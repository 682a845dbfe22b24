//! Turns explanations and proofs into words.

use dyno_judge::{AmountChange, Explanation};

use crate::answers::explain::{sentences, setting_line, title};
use crate::model::proof::ProofReport;
use crate::model::why::{ChangedCost, ProofState, Why};

impl ChangedCost {
    fn of(costs: &[AmountChange]) -> Option<Self> {
        let clear = costs.iter().filter(|cost| cost.is_clear && cost.ratio.is_some());
        let cost = clear.max_by(|a, b| a.weight.total_cmp(&b.weight))?;
        Some(Self { name: cost.name.trim_end_matches(" µs").to_owned(), ratio: cost.ratio? })
    }
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
}
