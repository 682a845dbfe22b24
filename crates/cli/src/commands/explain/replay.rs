//! Proofs that the results file has already.

use std::path::Path;

use dyno_judge::Explanation;
use dyno_report::ProofReport;
use dyno_store::{Run, Store};

use super::ProveFlags;
use super::prove::{Session, plan_name, subject};

/// What the results file shows of a difference without measuring: the proof as far as comparisons for it were made. None
/// if there are none.
pub(super) fn so_far(
    store: &Store,
    results: &Path,
    run: &Run,
    explanation: &Explanation,
) -> anyhow::Result<Option<ProofReport>> {
    let Some((rounds, seconds)) = first_comparison(store, run, explanation)? else { return Ok(None) };
    let mut fullest: Option<ProofReport> = None;
    // Whether the user asked for these rounds, or the first comparison decided how many the others have, is not kept.
    for rounds in [None, Some(rounds)] {
        let wanted = ProveFlags { budget: None, rounds, seconds: Some(seconds), plan: None };
        let mut session = Session::begin(&wanted, results, run, explanation)?;
        session.replay()?;
        let report = session.report(run);
        if fullest.as_ref().is_none_or(|other| other.probes.len() < report.probes.len()) {
            fullest = Some(report);
        }
    }
    Ok(fullest.filter(|report| !report.probes.is_empty()))
}

/// Rounds and seconds of the latest comparison of the two systems themselves; none if there is none.
fn first_comparison(
    store: &Store,
    run: &Run,
    explanation: &Explanation,
) -> anyhow::Result<Option<(u32, f64)>> {
    let begin = format!("# {} {}, ", subject(run.id, explanation), explanation.candidate);
    let name = plan_name(&explanation.step);
    for summary in store.runs()?.iter().rev().filter(|run| run.plan_name == name) {
        let text = store.plan_text(summary.id)?;
        let measured = text.lines().next().and_then(|line| line.strip_prefix(&begin)?.strip_suffix(" s"));
        if let Some((rounds, seconds)) = measured.and_then(|it| it.split_once(" rounds of "))
            && let (Ok(rounds), Ok(seconds)) = (rounds.parse(), seconds.parse())
        {
            return Ok(Some((rounds, seconds)));
        }
    }
    Ok(None)
}
