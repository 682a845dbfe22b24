//! Resumes a run that ended early.

use std::path::Path;

use dyno_store::{
    Ending, HostRecord, Outcome, ResumptionRecord, Run, RunChoice, RunState, SearchRecord, Store,
};

use super::executed::Executed;
use super::install::Installed;
use crate::plan::{Plan, Rounds};
use crate::records;
use crate::run::error::RunError;
use crate::run::record::{now_ms, this_host};

/// Finds the last run of a plan, which must be incomplete.
///
/// # Errors
/// The plan has no run, or its last run is complete or still in progress, or the plan has changed since then.
pub(crate) fn find_interrupted(plan: &Plan, store: &Store) -> Result<Run, RunError> {
    let cannot = |reason: String| RunError::Resume { plan: plan.name.clone(), reason };
    let results = store.path();
    let last = store.runs()?.into_iter().rfind(|run| run.plan_name == plan.name);
    let last = last.ok_or_else(|| cannot(format!("{} has no run of it", results.display())))?;
    let run = store.load_run(RunChoice::Id(last.id))?;
    let id = run.id;
    if run.state == RunState::Running {
        return Err(cannot(format!("run {id} is still in progress")));
    }
    if run.record.plan_text != plan.text || (run.record.scale - plan.scale).abs() > f64::EPSILON * plan.scale
    {
        return Err(cannot(format!(
            "run {id} was of another version or scale of it; run that one (`dyno results show {id}` has its text), \
             or start anew without --resume"
        )));
    }
    let normal = |search: &Option<SearchRecord>| search.as_ref().map(SearchRecord::normal);
    if normal(&run.record.search) != normal(&plan.search) {
        return Err(cannot(format!("run {id} was another comparison")));
    }
    // Options of the command line change the plan. All trials of a run must be made with the same options.
    if records::steps_of_run(plan, run.record.spread_id.is_some()) != run.steps {
        return Err(cannot(format!(
            "run {id} had other steps, seconds or rounds; give the same options as its command had: {}",
            run.record.command_line
        )));
    }
    let has_failed = run.trials.iter().any(|trial| trial.record.outcome != Outcome::Completed);
    let has_all_rounds =
        matches!(plan.rounds, Rounds::Fixed(rounds) if Executed::of(plan, &run).rounds_complete >= rounds);
    // Each round of this run may come from a results file of its own (the file of a task). If a user merged only some
    // of these files, rounds are missing although each task has finished.
    let lacks_tasks =
        run.record.spread_id.is_some() && matches!(plan.rounds, Rounds::Fixed(_)) && !has_all_rounds;
    let has_finished = run.state == RunState::Ended(Ending::Finished);
    if has_finished && !lacks_tasks && (has_all_rounds || !has_failed) {
        return Err(cannot(format!("run {id} is complete{}", hint(results, id.0))));
    }
    Ok(run)
}

/// Checks that container images are the ones that the run has measured so far. The tag of an image may now refer to
/// another image.
///
/// # Errors
/// An image has changed.
pub(crate) fn check_images(earlier: &Run, installations: &[Installed]) -> Result<(), RunError> {
    for (system, installed) in earlier.systems.iter().zip(installations) {
        let now = installed.as_ref().ok().and_then(|installation| installation.as_ref()?.image());
        if let (Some(then), Some(now)) = (&system.image, now)
            && *then != now
        {
            let reason = format!(
                "system `{}` was {then}, and its name means {now} now; bring the earlier image back, or start anew \
                 without --resume",
                system.id
            );
            return Err(RunError::Resume { plan: earlier.record.plan_name.clone(), reason });
        }
    }
    Ok(())
}

fn hint(results: &Path, run: i64) -> String {
    format!("; see it with `dyno report {run} --results {}`", results.display())
}

/// Makes the record of a resumption that happens now, on this host.
pub(crate) fn resumption(run: &Run) -> ResumptionRecord {
    let host = this_host();
    let differences = differences(&run.record.host, &host);
    ResumptionRecord { resumed_at_ms: now_ms(), host, differences }
}

/// Returns how the host has changed since the run began, in sentences.
fn differences(before: &HostRecord, now: &HostRecord) -> Vec<String> {
    let word = |fact: Option<String>| fact.unwrap_or_else(|| "unknown".to_owned());
    let facts = before.facts().into_iter().zip(now.facts());
    facts
        .filter(|(before, now)| before != now)
        .map(|((name, before), (_, now))| format!("{name} was {}, is {}", word(before), word(now)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_on_the_host_is_said() {
        let kernel = Some("6.1".to_owned());
        let before = HostRecord { cpus: Some(2), kernel: kernel.clone(), ..HostRecord::default() };
        let governor = Some("powersave".to_owned());
        let now = HostRecord { cpus: Some(4), kernel, governor, ..HostRecord::default() };
        assert_eq!(differences(&before, &now), ["cpus was 2, is 4", "governor was unknown, is powersave"]);
        assert!(differences(&now, &now).is_empty());
    }
}
