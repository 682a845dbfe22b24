//! The explanation at the top of a drill-down, in the words and numbers of `dyno explain`.

use dyno_judge::{AmountChange, Explanation};
use serde::Serialize;

use crate::answers::explain::{amounts, difference, is_quotient, sentences, suspect_line};
use crate::wording::phrases;

/// Largest number of costs, of counters, of plans and of settings that are shown for a cell.
const SHOWN_MAX: usize = 5;

#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    says: Vec<String>,
    /// Costs and counters that clearly changed: the name, the base's amount, the cell's amount, and their ratio.
    changes: Vec<[String; 4]>,
    /// A sentence that explains the sign beside some ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plans: Vec<PlanPair>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suspects: Vec<String>,
}

/// The two plans for a statement: the base's and the cell's.
#[derive(Debug, Serialize)]
struct PlanPair {
    title: String,
    base: String,
    own: String,
}

impl Explained {
    pub(crate) fn of(explanation: &Explanation) -> Self {
        let mut costs: Vec<&AmountChange> = explanation.costs.iter().filter(|cost| cost.is_clear).collect();
        costs.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let counters = explanation.counters.iter().take(SHOWN_MAX);
        let row = |change: &AmountChange| {
            let [base, own, ratio] = amounts(change);
            let of_rounds = if is_quotient(change) { "" } else { phrases::OF_ROUNDS };
            [change.name.clone(), base, own, ratio + of_rounds]
        };
        let changes: Vec<[String; 4]> = costs.into_iter().take(SHOWN_MAX).chain(counters).map(row).collect();
        let is_of_rounds = changes.iter().any(|[.., ratio]| ratio.ends_with(phrases::OF_ROUNDS));
        let plans = explanation.plans.changes.iter().take(SHOWN_MAX).map(|change| PlanPair {
            title: format!("{}: {}", change.statement, difference(change)),
            base: change.base.clone(),
            own: change.candidate.clone(),
        });
        let suspects = explanation.settings.iter().filter(|suspect| !suspect.evidence.is_empty());
        Self {
            says: sentences(explanation),
            changes,
            note: is_of_rounds.then_some(phrases::OF_ROUNDS_NOTE),
            plans: plans.collect(),
            suspects: suspects.take(SHOWN_MAX).map(suspect_line).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cell_has_what_changed_in_the_numbers_of_its_explanation() {
        let told = serde_json::to_value(Explained::of(&sample::planned())).unwrap();
        assert_eq!(told["changes"][0], serde_json::json!(["server CPU µs", "31.0", "55.8", "1.80"]));
        assert_eq!(told["changes"].as_array().unwrap().len(), 3, "a cost that is the same is left out");
        assert_eq!(
            told["plans"][0]["title"],
            "SELECT c FROM sbtest1 WHERE k=?: sbtest1 by index k_1 → by a full scan"
        );
        assert_eq!(told["suspects"].as_array().unwrap().len(), 1);
    }
}
