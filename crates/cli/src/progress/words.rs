//! Text that bars and lines share.

use std::time::Duration;

use dyno_engine::{DrainAmount, Left};
use dyno_judge::{Disturbance, DisturbanceLimits};
use dyno_lab::{NotStarted, Step, TrialLabel};
use dyno_settings::{Audit, Severity};
use dyno_store::{Operation, RunId, StoreError};
use indicatif::HumanCount;

/// A line about a resumed run, and lines about what changed on the host since the run began.
pub(super) fn resumed(run: RunId, differences: &[String]) -> Vec<String> {
    let changed = differences.iter().map(|difference| format!("  since it began, the host's {difference}"));
    std::iter::once(format!("continuing run {run}")).chain(changed).collect()
}

/// The errors and warnings of the comparability audit, one line each. The run goes on, so errors are shown as
/// warnings. Notes appear only in reports.
pub(super) fn audit(audit: &Audit) -> Vec<String> {
    let grave = audit.findings.iter().filter(|finding| finding.severity != Severity::Note);
    grave.map(|finding| format!("warning: {}; {}", finding.explanation, finding.advice)).collect()
}

/// Progress of a drain: `myrocks: waiting for pending writes, 12 s (dirty pages 311)`.
pub(super) fn draining(system: &str, seconds: f64, amounts: &[DrainAmount]) -> String {
    let left: Vec<_> = amounts
        .iter()
        .filter(|amount| amount.goal.is_some_and(|goal| amount.value > goal))
        .map(|amount| format!("{} {}", amount.name, HumanCount(amount.value as u64)))
        .collect();
    format!("{system}: waiting for pending writes, {seconds:.0} s ({})", left.join(", "))
}

/// States how the data that a system starts with is being made.
pub(super) fn giving_data(system: &str, how: &str) -> String {
    format!("{system}: {how}")
}

/// States that the data of a system is being restored from a copy.
pub(super) fn restoring(system: &str) -> String {
    format!("{system}: restoring the data as it was after the load")
}

/// Warns that data could not be kept.
pub(super) fn not_kept(system: &str, reason: &str) -> String {
    format!("warning: the data of {system} cannot be kept, so it will be loaded again: {reason}")
}

/// States which objects the loads may drop although Dyno did not make them.
pub(super) fn may_drop(system: &str, names: &[String]) -> String {
    format!("loads of {system} may drop objects that Dyno did not create: {}", names.join(", "))
}

/// Warns of objects that remain on a server that Dyno did not start.
pub(super) fn left(left: &Left) -> String {
    let Left { database, names, reason } = left;
    let what = if names.is_empty() { "tables of this run, perhaps".to_owned() } else { names.join(", ") };
    format!("warning: left in {database}: {what}; {reason}")
}

/// States that a load is run again so that stacks can be sampled.
pub(super) fn sampling_stacks(system: &str, step: &Step) -> String {
    format!("sampling stacks of {system} in {}", step.id)
}

/// States how many crashes of a system under load were made and checked.
pub(super) fn crashing(system: &str, checked: u32, crashes: u32) -> String {
    format!("crashing {system}: {checked} of {crashes} crashes checked")
}

/// Warns that stacks could not be sampled, on one system or on all.
pub(super) fn stacks_not_sampled(system: Option<&str>, reason: &str) -> String {
    match system {
        Some(system) => format!("warning: the stacks of {system} are not sampled: {reason}"),
        None => format!("warning: no stacks are sampled: {reason}"),
    }
}

/// Warns that a trial could not be written to the results file.
pub(super) fn not_committed(error: &StoreError) -> String {
    format!("warning: the last trial could not be written; Dyno tries again for half a minute: {error}")
}

/// States that a disturbed step is being measured again, and how much CPU time neighbours used in its most disturbed
/// trial.
pub(super) fn rerunning(step: &Step, clients: u32, by: Disturbance) -> String {
    let limits = DisturbanceLimits::default();
    let steal = (by.steal_share > limits.steal_max)
        .then(|| format!("the hypervisor took {:.0}%", 100.0 * by.steal_share));
    let others = (by.others_share > limits.others_max || steal.is_none())
        .then(|| format!("other processes used {:.0}%", 100.0 * by.others_share));
    let parts: Vec<String> = others.into_iter().chain(steal).collect();
    format!("{}, {}: {} of the CPU time, measuring again", step.id, counted(clients), parts.join(" and "))
}

/// The current round: `round 3 of 10`
pub(super) fn round(round: u32, of: u32) -> String {
    format!("round {} of {of}", round + 1)
}

/// States how a time budget was divided into rounds and seconds per trial.
pub(super) fn allocated(rounds: u32, seconds_per_trial: f64) -> String {
    format!("the time allows about {rounds} rounds in all, with {seconds_per_trial:.1} s for each trial")
}

/// States how many tests are no longer measured, because they are decided or can no longer be decided.
pub(super) fn tests_left(tests: usize, of: usize) -> String {
    let are = if tests == 1 { "is" } else { "are" };
    format!("{tests} of {of} tests {are} decided or out of reach; the others continue")
}

/// A step on all systems: `update-index, 4 clients, 3 systems in turns, round 2`
pub(super) fn slices(label: &TrialLabel<'_>, systems: usize) -> String {
    let TrialLabel { step, clients, round, .. } = label;
    format!("{}, {}, {systems} systems in turns, round {}", step.id, counted(*clients), round + 1)
}

/// Warns that a system did not start.
pub(super) fn not_started(not_started: &NotStarted) -> String {
    format!("warning: {} {}; the others continue", not_started.system, not_started.message)
}

/// States that the tables of a system are being loaded again.
pub(super) fn loading(system: &str, step: &Step) -> String {
    format!("{system} has lost its tables: {} is loaded again without measurement", step.id)
}

/// A trial: `update-index, 4 clients, mariadb, round 2`
pub(super) fn trial(label: &TrialLabel<'_>) -> String {
    format!("{}, {}, {}, round {}", label.step.id, counted(label.clients), label.system, label.round + 1)
}

fn counted(clients: u32) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}

/// The current rate: `21,345 queries/s`
pub(super) fn rate(operations_per_second: f64, operation: Operation) -> String {
    let noun = match operation {
        Operation::Query => "queries",
        Operation::Transaction => "transactions",
        Operation::Row => "rows",
    };
    format!("{} {noun}/s", HumanCount(operations_per_second.round() as u64))
}

/// The remaining time: `3m 20s left`
pub(super) fn time_left(seconds: f64) -> String {
    let whole = Duration::from_secs(seconds.ceil().max(0.0) as u64);
    format!("{} left", humantime::format_duration(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_times_are_easy_to_read() {
        assert_eq!(rate(21_345.4, Operation::Query), "21,345 queries/s");
        assert_eq!(time_left(199.2), "3m 20s left");
        assert_eq!(time_left(-1.0), "0s left");
    }
}
