//! Why the systems of a run differ from its base, for reports and pages.

use std::path::Path;

use dyno_judge::{Analysis, Explanation, TestComparison};
use dyno_printable::quote;
use dyno_report::{ProofState, Reasons, Why};
use dyno_store::{Origin, Run, Store};

use super::explainer::Explainer;
use super::{in_the_background, is_decided, settings};
use crate::prove;

/// Largest number of differences in the section "Why".
const DIFFERENCES_MAX: usize = 5;
/// Largest number of a run's differences that a page explains. The limit keeps the page small and fast to make.
const CELLS_MAX: usize = 60;

/// The largest decided differences of a run from its base, for a report.
///
/// # Errors
/// The results file cannot be read.
pub fn largest(store: &Store, results: &Path, run: &Run, analysis: &Analysis) -> anyhow::Result<Vec<Why>> {
    let explanations = explanations(store, run, analysis, DIFFERENCES_MAX)?;
    Ok(explained(store, results, run, &explanations))
}

/// Returns what a page needs: the largest decided differences of a run, and explanations of more differences.
///
/// # Errors
/// The results file cannot be read.
pub fn reasons(store: &Store, results: &Path, run: &Run, analysis: &Analysis) -> anyhow::Result<Reasons> {
    let explanations = explanations(store, run, analysis, CELLS_MAX)?;
    let largest = &explanations[..explanations.len().min(DIFFERENCES_MAX)];
    Ok(Reasons { why: explained(store, results, run, largest), explanations })
}

/// Explanations of the largest decided differences, the largest first.
fn explanations(
    store: &Store,
    run: &Run,
    analysis: &Analysis,
    differences_max: usize,
) -> anyhow::Result<Vec<Explanation>> {
    let Some(base) = analysis.base.as_deref() else { return Ok(Vec::new()) };
    let candidates = analysis.systems.iter().filter(|system| *system != base);
    let mut decided: Vec<(&str, &TestComparison)> = candidates
        .filter_map(|system| Some((system.as_str(), analysis.comparison(base, system)?)))
        .filter(|(_, comparison)| !comparison.is_control)
        .flat_map(|(system, comparison)| comparison.tests.iter().map(move |test| (system, test)))
        .filter(|(_, test)| is_decided(test.finding))
        .collect();
    let size = |test: &TestComparison| test.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    decided.sort_by(|(_, a), (_, b)| size(b).total_cmp(&size(a)));
    decided.truncate(differences_max);
    if decided.is_empty() {
        return Ok(Vec::new());
    }
    let mut explainer = Explainer::of(store, run, analysis)?;
    let mut explanations = Vec::new();
    for (candidate, test) in decided {
        explanations.extend(explainer.explanation((base, candidate), test)?);
    }
    Ok(explanations)
}

fn explained(store: &Store, results: &Path, run: &Run, explanations: &[Explanation]) -> Vec<Why> {
    explanations.iter().map(|it| Why::of(it, proof(store, results, run, it))).collect()
}

/// Returns the state of a difference's proof. A proof that cannot be read counts as not made. For example, a proof
/// cannot be read after the files of its plan have moved.
pub(crate) fn proof(store: &Store, results: &Path, run: &Run, explanation: &Explanation) -> ProofState {
    if let Some(reason) = obstacle(run, explanation) {
        return ProofState::Impossible { reason };
    }
    let Explanation { candidate, step, clients, .. } = explanation;
    match prove::so_far(store, results, run, explanation) {
        Ok(Some(report)) => ProofState::of(&report),
        Ok(None) | Err(_) => ProofState::NotMade {
            command: format!(
                "dyno explain {} {} --test {} --clients {clients} --prove --results {}",
                run.id,
                quote(candidate),
                quote(step),
                quote(&results.display().to_string())
            ),
        },
    }
}

/// Why a difference cannot be proven; `None` if it can be.
fn obstacle(run: &Run, explanation: &Explanation) -> Option<String> {
    let Explanation { base, candidate, step, .. } = explanation;
    if let Some(reason) = in_the_background(run, step) {
        return Some(reason);
    }
    let of_both = [base, candidate].map(|id| run.systems.iter().find(|system| system.id == *id));
    if let Some(system) = of_both.iter().flatten().find(|system| system.origin == Origin::Dsn) {
        return Some(format!("{} was not started by Dyno, so its settings cannot be changed", system.id));
    }
    let family = |id: &str| settings::facts(run, id).map(|facts| facts.product.family);
    match (family(base), family(candidate)) {
        (Some(of_base), Some(own)) if of_base != own => {
            Some(format!("{base} and {candidate} are different engines, whose settings are not the same"))
        }
        _ if explanation.settings.is_empty() => Some("no setting, limit or step differs".to_owned()),
        _ => None,
    }
}
