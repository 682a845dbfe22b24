//! Warnings of a run: one line for each kind, with the number of tests.

use std::collections::BTreeMap;

use dyno_judge::{CellWarning, TestWarning};
use dyno_store::CrashVerdict;

use crate::build::evidence;
use crate::model::{Reports, TrialWarnings};
use crate::sections::crashes;
use crate::wording::in_force;
use crate::wording::number::counted;
use crate::wording::phrases;

/// Largest number of tests that a line names.
const NAMED_MAX: usize = 2;
/// Largest number of failures whose messages are shown.
const FAILURES_MAX: usize = 2;

/// Kinds of warnings about a system in a test, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    LimitsDiffer,
    Failed,
    NothingDone,
    Disturbed,
    OwnSteal,
    Moving,
    Stalled,
    NotSustained,
    Inconsistent,
    Drivers,
    WorksBetweenSlices,
    PinnedAlone,
    LoadedAgain,
    NotNarrow,
    Saturated,
    Abandoned,
}

impl Kind {
    /// The words that follow the number of tests in a line about warnings of this kind.
    fn says(self) -> &'static str {
        match self {
            Self::LimitsDiffer => "limits that are not the plan's",
            Self::Failed => "rounds that failed",
            Self::NothingDone => "rounds in which no operation finished",
            Self::Disturbed => "rounds that other processes or the hypervisor disturbed",
            Self::OwnSteal => "CPU time that the hypervisor takes because of the system itself",
            Self::Moving => "a rate that still rose or fell",
            Self::Stalled => "stalls",
            Self::NotSustained => "a rate that was not sustained",
            Self::Inconsistent => "throughput and latency that do not agree",
            Self::Drivers => "drivers that may have limited the rate",
            Self::WorksBetweenSlices => "servers that worked while the others were loaded",
            Self::PinnedAlone => "threads of one system only pinned to cores",
            Self::LoadedAgain => "tables that were loaded again",
            Self::NotNarrow => "a search that ran out of time",
            Self::Saturated => "a capacity that saturation limits",
            Self::Abandoned => "events that never ended",
        }
    }

    fn of_cell(warning: &CellWarning) -> Self {
        match warning {
            CellWarning::NoLevel { .. } => Self::Moving,
            CellWarning::WorksBetweenSlices { .. } => Self::WorksBetweenSlices,
            CellWarning::Disturbed { .. } | CellWarning::DisturbedCounted { .. } => Self::Disturbed,
            CellWarning::OwnSteal { .. } => Self::OwnSteal,
            CellWarning::Failed { .. } => Self::Failed,
            CellWarning::Stalled { .. } => Self::Stalled,
            CellWarning::NotSustained { .. } => Self::NotSustained,
            CellWarning::NotNarrow { .. } => Self::NotNarrow,
            CellWarning::Saturated { .. } => Self::Saturated,
            CellWarning::LimitsDiffer { .. } => Self::LimitsDiffer,
            CellWarning::Drivers { .. } => Self::Drivers,
            CellWarning::LoadedAgain { .. } => Self::LoadedAgain,
            CellWarning::NothingDone { .. } | CellWarning::NothingDue { .. } => Self::NothingDone,
            CellWarning::Abandoned { .. } => Self::Abandoned,
        }
    }

    /// The kind of a warning about a comparison. `None` if the warning concerns all tests of a system.
    fn of_test(warning: &TestWarning) -> Option<Self> {
        match warning {
            TestWarning::Stalls { .. } | TestWarning::StallsCounted { .. } => Some(Self::Stalled),
            TestWarning::CandidateFailed { .. } | TestWarning::BaseFailed { .. } => Some(Self::Failed),
            TestWarning::PinnedAlone { .. } => Some(Self::PinnedAlone),
            TestWarning::NotFresh { .. } => None,
        }
    }

    fn of(warnings: &TrialWarnings) -> Vec<Self> {
        let counted = [
            (warnings.disturbed, Self::Disturbed),
            (warnings.unsteady, Self::Moving),
            (warnings.little_broken, Self::Inconsistent),
        ];
        let mut kinds: Vec<Self> =
            counted.into_iter().filter(|(rounds, _)| *rounds > 0).map(|(_, kind)| kind).collect();
        kinds.extend(warnings.warnings.iter().map(Self::of_cell));
        kinds.extend(warnings.against_base.iter().filter_map(Self::of_test));
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

/// The lines of warnings. The gravest come first.
pub(super) fn lines(reports: &Reports) -> Vec<String> {
    let mut lines = in_force::sentences(&reports.not_in_force);
    let broken = reports.crash_tests.iter().filter(|test| test.verdict == CrashVerdict::Broken);
    lines.extend(broken.map(crashes::sentence));
    lines.extend(phrases::incomplete(&reports.run));
    lines.extend(failures(reports));
    lines.extend(reports.not_comparable.iter().cloned());
    if !reports.run.is_going_on() {
        lines.extend(evidence::worth(&reports.replication, false));
    }
    lines.extend(grouped(&reports.trial_warnings));
    lines
}

/// Lines with the messages of the first [`FAILURES_MAX`] kinds of failures, and with the number of further kinds.
fn failures(reports: &Reports) -> Vec<String> {
    let notes = &reports.footnotes;
    let mut lines: Vec<String> = notes.iter().take(FAILURES_MAX).map(phrases::failure).collect();
    if let Some(more) = notes.len().checked_sub(FAILURES_MAX).filter(|more| *more > 0) {
        lines.push(format!("{} of other kinds.", counted(more as u64, "failure")));
    }
    lines
}

/// `3 tests with stalls: load at 4 clients (maria, myrocks), scan at 1 client (maria) and 1 more`.
fn grouped(trial_warnings: &[TrialWarnings]) -> Vec<String> {
    let mut kinds: BTreeMap<Kind, Vec<&TrialWarnings>> = BTreeMap::new();
    for warnings in trial_warnings {
        for kind in Kind::of(warnings) {
            kinds.entry(kind).or_default().push(warnings);
        }
    }
    let line = |(kind, warnings): (Kind, Vec<&TrialWarnings>)| {
        // Warnings are in the run order of their tests, so all warnings on a test are adjacent.
        let tests = || warnings.chunk_by(|a, b| (&a.step, a.clients) == (&b.step, b.clients));
        let named: Vec<String> = tests().take(NAMED_MAX).map(place).collect();
        let count = tests().count();
        let more = count.saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{} with {}: {}{more}", counted(count as u64, "test"), kind.says(), named.join(", "))
    };
    kinds.into_iter().map(line).collect()
}

/// A test with the systems that a warning concerns: `load at 4 clients (maria, myrocks)`.
fn place(of_test: &[&TrialWarnings]) -> String {
    let TrialWarnings { step, clients, .. } = of_test[0];
    let systems: Vec<&str> = of_test.iter().map(|it| it.system.as_str()).collect();
    format!("{step} at {} ({})", counted(u64::from(*clients), "client"), systems.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn each_kind_of_doubt_has_one_line_with_its_number_of_tests() {
        let lines = lines(&reports(&sample::eventful_run()));
        let of = |says: &str| -> Vec<&String> { lines.iter().filter(|line| line.contains(says)).collect() };
        let limits = of("with limits that are not the plan's: ");
        assert_eq!(limits.len(), 1, "{lines:?}");
        assert!(limits[0].starts_with("1 test with "), "{limits:?}");
        for kind in [" with stalls: ", " with rounds that failed: ", " with a rate that still rose or fell: "]
        {
            assert_eq!(of(kind).len(), 1, "{kind}: {lines:?}");
        }
    }

    #[test]
    fn many_tests_are_counted_and_two_are_named() {
        let test = |at: usize| TrialWarnings {
            step: format!("s{}", at / 2),
            clients: 1,
            system: ["a", "b"][at % 2].to_owned(),
            disturbed: 1,
            ..TrialWarnings::default()
        };
        let tests: Vec<TrialWarnings> = (0..5).map(test).collect();
        assert_eq!(
            grouped(&tests),
            [
                "3 tests with rounds that other processes or the hypervisor disturbed: s0 at 1 client (a, b), s1 at 1 client \
              (a, b) and 1 more"
            ]
        );
    }

    #[test]
    fn a_run_without_doubts_has_no_line() {
        let mut reports = reports(&sample::run(12));
        reports.trial_warnings.clear();
        assert_eq!(lines(&reports), [""; 0]);
    }

    #[test]
    fn settings_that_are_not_in_force_come_first() {
        let lines = lines(&reports(&sample::same_run()));
        assert!(lines[0].starts_with("maria is the same system as mysql56"), "{lines:?}");
    }
}
