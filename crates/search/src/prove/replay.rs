//! Proofs from a results file.

use std::path::Path;

use dyno_judge::Explanation;
use dyno_lab::{Plan, RunOutcome};
use dyno_report::ProofReport;
use dyno_store::{Run, SearchSide, Store, StoredSearch};

use super::{ProofInMaking, Prove, plan_name, question};
use crate::session::Lab;

/// The [`Lab`] of a proof that only reads.
struct NoLab;

impl Lab for NoLab {
    fn run(&self, _: &Plan, _: Option<u64>, _: bool) -> anyhow::Result<Option<RunOutcome>> {
        Ok(None)
    }

    fn tell(&self, _: &str) {}
}

/// The proof of a difference from the comparisons in the results file, without measurements. `None` if there are no
/// comparisons for it.
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
    // The file does not record whether the user or the first comparison set this number of rounds.
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

/// A comparison of the two systems themselves.
struct First {
    rounds: u32,
    seconds: f64,
    /// What the two were.
    builds: [Option<String>; 2],
}

/// The latest comparison of the two systems themselves, if there is one.
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
