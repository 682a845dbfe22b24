//! Reads proofs from a results file.

use std::path::Path;

use dyno_judge::Explanation;
use dyno_lab::{Plan, RunOutcome};
use dyno_report::ProofReport;
use dyno_store::{Run, SearchSide, Store, StoredSearch};

use super::{ProofInMaking, Prove, plan_name, question};
use crate::session::Lab;

/// A [`Lab`] that runs nothing, for a proof that is only read.
struct NoLab;

impl Lab for NoLab {
    fn run(&self, _: &Plan, _: Option<u64>, _: bool) -> anyhow::Result<Option<RunOutcome>> {
        Ok(None)
    }

    fn tell(&self, _: &str) {}
}

/// Returns the proof of a difference as far as the comparisons in the results file show it. Measures nothing.
/// Returns `None` if the file has no comparison for this proof.
pub(crate) fn so_far(
    store: &Store,
    results: &Path,
    run: &Run,
    explanation: &Explanation,
) -> anyhow::Result<Option<ProofReport>> {
    let Some(First { rounds, seconds, builds }) = first_comparison(store, run, explanation)? else {
        return Ok(None);
    };
    let mut fullest: Option<ProofReport> = None;
    // The file does not record who set this number of rounds: the user, or the first comparison. So both possibilities
    // are tried.
    for rounds in [None, Some(rounds)] {
        let wanted = Prove { rounds, seconds: Some(seconds), ..Prove::default() };
        let mut proof = ProofInMaking::begin(&wanted, (&NoLab, results, None), run, explanation)?;
        proof.builds = Some(builds.clone());
        proof.replay()?;
        let report = proof.report(run);
        if fullest.as_ref().is_none_or(|other| other.probes.len() < report.probes.len()) {
            fullest = Some(report);
        }
    }
    Ok(fullest.filter(|report| !report.probes.is_empty()))
}

/// A comparison of the base with the candidate itself, which is the first of a proof.
struct First {
    rounds: u32,
    seconds: f64,
    /// The builds of the base and the candidate when the comparison was made.
    builds: [Option<String>; 2],
}

/// Returns the latest comparison of the base with the candidate itself.
fn first_comparison(store: &Store, run: &Run, explanation: &Explanation) -> anyhow::Result<Option<First>> {
    let (question, name) = (question(run, explanation), plan_name(&explanation.step));
    for summary in store.runs()?.iter().rev().filter(|run| run.plan_name == name) {
        let Some(StoredSearch { record, .. }) = store.search(summary.id)? else { continue };
        let builds = record.sides.each_ref().map(|side| side.build.clone());
        let [_, build] = builds.clone();
        let whole = SearchSide { system: explanation.candidate.clone(), build, ..SearchSide::default() };
        if record.question == question
            && record.sides[1] == whole
            && let Some(test) = record.steps.last()
        {
            return Ok(Some(First { rounds: record.rounds, seconds: test.seconds, builds }));
        }
    }
    Ok(None)
}
