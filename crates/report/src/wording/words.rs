//! Words for verdicts, warnings and reasons. All formats use them.

use std::collections::BTreeMap;

use dyno_judge::{
    CellWarning, DisturbanceLimits, DisturbedRounds, DisturbedTests, Doubt, DriverDoubt, Finding, Method,
    TestWarning, Undecided,
};
use dyno_stats::Interval;
use dyno_store::UnmetLimit;

use crate::document::Tint;
use crate::model::Relative;
use crate::wording::number::{self, counted, ratio};

/// A ratio with its interval: `1.10 [1.05, 1.15]`.
pub fn ratio_in(value: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(interval) => format!("{} [{}, {}]", ratio(value), ratio(interval.low), ratio(interval.high)),
        None => ratio(value),
    }
}

/// A time in whole seconds or minutes: `48 seconds`, `4 minutes`.
pub(crate) fn time(seconds: f64) -> String {
    if seconds < 90.0 {
        counted(seconds.round() as u64, "second")
    } else {
        counted((seconds / 60.0).round() as u64, "minute")
    }
}

/// The sign of a finding, for formats without colours.
pub(crate) fn mark(finding: Finding) -> &'static str {
    match finding {
        Finding::Improved => "+",
        Finding::Regressed => "−",
        Finding::Same => "=",
        Finding::NotEnoughEvidence => "?",
        Finding::Failed => "!",
        Finding::Decays => "↘",
        Finding::Unjudged => "·",
    }
}

/// The colour of a verdict of faster or slower. `None` for other findings.
pub(crate) fn tint(finding: Finding) -> Option<Tint> {
    match finding {
        Finding::Improved => Some(Tint::Better),
        Finding::Regressed => Some(Tint::Worse),
        Finding::Same
        | Finding::NotEnoughEvidence
        | Finding::Failed
        | Finding::Decays
        | Finding::Unjudged => None,
    }
}

/// The verdict on throughput in words.
pub(crate) fn finding(found: Finding, margin: &str) -> String {
    match found {
        Finding::Improved => "faster".to_owned(),
        Finding::Regressed => "slower".to_owned(),
        Finding::Same => format!("the same within {margin}"),
        Finding::NotEnoughEvidence => "not decided".to_owned(),
        Finding::Failed => "failed where the base did not".to_owned(),
        Finding::Decays => "falls over a trial, unlike the base".to_owned(),
        Finding::Unjudged => "not judged".to_owned(),
    }
}

/// The disturbed rounds, and the CPUs that other programs or guests used: `9 of 9 rounds were disturbed: other
/// processes used 0.90 of 2 CPUs`.
pub(crate) fn disturbed(found: &DisturbedRounds) -> String {
    let limits = DisturbanceLimits::default();
    let cpus = found.cpus as f64;
    let used = [
        ("other processes", found.others_cpus, limits.others_max),
        ("other guests of the hypervisor", found.steal_cpus, limits.steal_max),
    ];
    let largest = used.iter().map(|(_, used, max)| used / max).fold(0.0, f64::max);
    let named = used.iter().filter(|(_, used, max)| *used > max * cpus || used / max >= largest);
    let named: Vec<String> = named.map(|(who, used, _)| format!("{who} used {used:.2}")).collect();
    let were = if found.rounds == 1 { "was" } else { "were" };
    format!(
        "{} of {} {were} disturbed: {} of {}",
        found.rounds,
        counted(found.of as u64, "round"),
        named.join(" and "),
        counted(found.cpus, "CPU")
    )
}

/// The tests without a verdict because of disturbed rounds: `7 of 11 tests have too few undisturbed rounds: up to 9
/// of 9 rounds were disturbed: …`.
pub fn disturbed_tests(found: &DisturbedTests) -> String {
    if found.of == 1 {
        return disturbed(&found.worst);
    }
    let (tests, of) = (found.tests, counted(found.of as u64, "test"));
    let up_to = if tests == 1 { "" } else { "up to " };
    format!("{tests} of {of} have too few undisturbed rounds: {up_to}{}", disturbed(&found.worst))
}

/// Why there is no verdict.
pub(crate) fn undecided(why: &Undecided) -> String {
    match why {
        Undecided::TooFewRounds { rounds, wanted } => {
            format!("{} of the {wanted} that a verdict needs", counted(*rounds as u64, "round"))
        }
        Undecided::TooFewSessions { sessions, wanted } => {
            format!("{} per side of the {wanted} that a verdict needs", counted(*sessions as u64, "session"))
        }
        Undecided::NotAlternating { pairs, wanted } => format!(
            "sessions must alternate (A B B A): these form {} of neighbours of the {wanted} that a verdict needs",
            counted(*pairs as u64, "pair")
        ),
        Undecided::OneSession => "one session per side and no common anchor".to_owned(),
        Undecided::Disturbed(rounds) => disturbed(rounds),
        Undecided::Interval => "the interval includes both no change and a meaningful one".to_owned(),
        Undecided::NoLevel { system } => format!("the rate of {system} has no level"),
        Undecided::Decays { change } => format!(
            "its rate at the end of a trial is {} times that at the start; the base's rate has a level",
            ratio(*change)
        ),
        Undecided::MeasuredOnce => "not measured in every round by design".to_owned(),
        Undecided::NotMeasured => "not measured".to_owned(),
        Undecided::NothingDone { system } => format!("{system} finished no operation, so there is no ratio"),
        Undecided::NothingDue => "no event was due at this rate".to_owned(),
        Undecided::OnlyBounds { system } => {
            format!("events of {system} never ended, so only a lower bound is known")
        }
        Undecided::SameSystem => {
            "the same system: the settings that should differ are not in force".to_owned()
        }
        Undecided::BaseFailed => "the base failed".to_owned(),
        Undecided::NotPlanned { system } => format!("not planned for {system}"),
    }
}

/// The method of the interval; `None` if there is no interval.
pub(crate) fn method(relative: &Relative) -> Option<String> {
    let rounds = relative.rounds.len() as u64;
    let slices: usize = relative.rounds.iter().map(|round| round.slices).sum();
    match relative.method {
        Method::Exact => Some(format!("exact interval of {}", counted(rounds, "round"))),
        Method::StudentT => Some(format!("t interval of {}", counted(rounds, "round"))),
        Method::ThisPairOnly => Some(format!(
            "interval of {} of one round: this pair of servers only",
            counted(slices as u64, "slice")
        )),
        Method::Unpaired => Some("exact interval of systems that did not take turns".to_owned()),
        Method::None => None,
    }
}

/// Whether there is a warning on the comparison itself. Warnings on the trials of one system, or on all tests of a
/// system, do not count.
pub(crate) fn is_suspect(relative: &Relative) -> bool {
    relative.warnings.iter().any(TestWarning::is_of_one_test)
}

/// A warning on a system in a test, in words.
pub(crate) fn cell_warning(warning: &CellWarning) -> String {
    match warning {
        CellWarning::NoLevel { rounds, of, change } => {
            let course = if *change >= 1.0 { "rising" } else { "falling" };
            format!(
                "still {course} in {rounds} of {}: {} times as fast at the end as at the start; not judged",
                counted(*of as u64, "round"),
                ratio(*change)
            )
        }
        CellWarning::WorksBetweenSlices { share } => format!(
            "works between its slices: its CPU time there is {} of that in its slices",
            number::percent(*share)
        ),
        CellWarning::Disturbed { rounds, of } => {
            format!(
                "others used the host in {rounds} of {}, which do not count",
                counted(*of as u64, "round")
            )
        }
        CellWarning::DisturbedCounted { rounds, of } => {
            format!("others used the host in {rounds} of {}, which count", counted(*of as u64, "round"))
        }
        CellWarning::OwnSteal { share } => format!(
            "in every round, the hypervisor took CPU time ({}), but not beside every system: it is the system's own, \
             and the rounds count",
            number::percent(*share)
        ),
        CellWarning::Failed { rounds, of } => {
            format!("failed in {rounds} of {}", counted(*of as u64, "round"))
        }
        CellWarning::Stalled { rounds, of, seconds_max } => format!(
            "stalled in {rounds} of {}: nothing finished for up to {seconds_max:.1} s",
            counted(*of as u64, "round")
        ),
        CellWarning::NotSustained { rounds, of, events_max } => format!(
            "did not keep up with the rate in {rounds} of {}: at the end, up to {} were due but not begun; latencies are \
             lower bounds",
            counted(*of as u64, "round"),
            counted(*events_max, "event")
        ),
        CellWarning::NotNarrow { rounds, of, width_max } => format!(
            "the search ran out of time in {rounds} of {}: the upper end of its interval was up to {} times the lower",
            counted(*of as u64, "round"),
            ratio(*width_max)
        ),
        CellWarning::Saturated { rounds, of } => format!(
            "limited by saturation in {rounds} of {}: higher rates were not sustained, though latencies kept the limit",
            counted(*of as u64, "round")
        ),
        CellWarning::LimitsDiffer { rounds, of, differences } => format!(
            "limits differed from the plan's in {rounds} of {}: {}",
            counted(*of as u64, "round"),
            limits(differences)
        ),
        CellWarning::Drivers { rounds, of, doubts } => format!(
            "a driver may have limited the rate in {rounds} of {}: {}",
            counted(*of as u64, "round"),
            doubts.iter().map(driver_doubt).collect::<Vec<_>>().join(", ")
        ),
        CellWarning::LoadedAgain { rounds, of, loads, never_measured } => {
            let why = if *never_measured { "; each measured load failed" } else { "" };
            format!(
                "tables of {} loaded again without measurement in {rounds} of {}{why}",
                loads.join(" and "),
                counted(*of as u64, "round")
            )
        }
        CellWarning::NothingDone { rounds, of } => {
            format!("finished no operation in {rounds} of {}", counted(*of as u64, "round"))
        }
        CellWarning::NothingDue { rounds, of } => {
            format!("no event was due in {rounds} of {}", counted(*of as u64, "round"))
        }
        CellWarning::Abandoned { events } => format!(
            "{} in flight at the end never ended; latencies are lower bounds",
            counted(*events, "event")
        ),
    }
}

/// Why a driver may have limited the rate: `each client of ssh://b made 52% as many events as one of the fastest
/// driver`.
fn driver_doubt(DriverDoubt { host, doubt }: &DriverDoubt) -> String {
    match doubt {
        Doubt::Slow { share } => {
            format!(
                "each client of {host} made {} as many events as one of the fastest driver",
                number::percent(*share)
            )
        }
        Doubt::Left { share } => format!("{host} left {} of its events", number::percent(*share)),
        Doubt::Busy { share } => format!("{host} used {} of its threads' CPU", number::percent(*share)),
        Doubt::Late { share } => {
            format!("{host} began {} of the measured time after the first", number::percent(*share))
        }
    }
}

/// Limits in force that differ from the plan's: `memory was 512M, not 256M`.
pub(crate) fn limits(differences: &[UnmetLimit]) -> String {
    let words = |it: &UnmetLimit| format!("{} was {}, not {}", it.limit, it.found, it.asked);
    differences.iter().map(words).collect::<Vec<_>>().join(", ")
}

/// A warning on a comparison, in words. `in_slices` is the ratio that neighbouring slices give.
pub(crate) fn test_warning(warning: &TestWarning, in_slices: Option<f64>) -> String {
    match warning {
        TestWarning::Stalls { whole_ratio } => {
            let beside = in_slices.map(|value| format!(", {} in neighbouring slices", ratio(value)));
            format!(
                "stalls: the ratio over the whole time is {}{}",
                ratio(*whole_ratio),
                beside.unwrap_or_default()
            )
        }
        TestWarning::StallsCounted { sliced_ratio } => {
            format!("stalls in every round, which count: without them the ratio is {}", ratio(*sliced_ratio))
        }
        TestWarning::CandidateFailed { rounds, of } => {
            format!("failed in {rounds} of {}", counted(*of as u64, "round"))
        }
        TestWarning::BaseFailed { rounds, of } => {
            format!("the base failed in {rounds} of {}", counted(*of as u64, "round"))
        }
        TestWarning::NotFresh { system } => format!("{system} is the same server in all rounds"),
        TestWarning::PinnedAlone { system, rounds } => format!(
            "in {} only the threads of {system} were pinned to cores of their own",
            counted(*rounds as u64, "round")
        ),
    }
}

/// The server's error codes with their counts: `1064 × 3, 1213 × 1`
pub(crate) fn error_codes(codes: &BTreeMap<String, u64>) -> String {
    codes.iter().map(|(code, errors)| format!("{code} × {errors}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_without_a_level_says_which_way_it_went_and_that_it_is_not_judged() {
        let warning = |change| cell_warning(&CellWarning::NoLevel { rounds: 10, of: 12, change });
        assert_eq!(
            warning(9.3),
            "still rising in 10 of 12 rounds: 9.30 times as fast at the end as at the start; not judged"
        );
        assert!(warning(0.5).starts_with("still falling in 10 of 12 rounds: 0.50 times"), "{}", warning(0.5));
    }

    #[test]
    fn what_was_left_undone_is_told_with_its_amount() {
        let stalled = CellWarning::Stalled { rounds: 1, of: 6, seconds_max: 2.34 };
        assert_eq!(cell_warning(&stalled), "stalled in 1 of 6 rounds: nothing finished for up to 2.3 s");
        let late = CellWarning::NotSustained { rounds: 2, of: 3, events_max: 465 };
        assert!(cell_warning(&late).contains("at the end, up to 465 events were due but not begun"));
        let wide = CellWarning::NotNarrow { rounds: 1, of: 3, width_max: 1.08 };
        assert!(cell_warning(&wide).ends_with("up to 1.08 times the lower"), "{}", cell_warning(&wide));
        let saturated = CellWarning::Saturated { rounds: 3, of: 3 };
        assert!(cell_warning(&saturated).starts_with("limited by saturation in 3 of 3 rounds"));
        let abandoned = CellWarning::Abandoned { events: 1 };
        assert!(cell_warning(&abandoned).starts_with("1 event in flight at the end never ended"));
    }

    #[test]
    fn limits_and_loads_that_were_others_are_told() {
        let difference =
            UnmetLimit { limit: "memory".to_owned(), asked: "256M".to_owned(), found: "512M".to_owned() };
        let limits = CellWarning::LimitsDiffer { rounds: 1, of: 2, differences: vec![difference] };
        assert_eq!(
            cell_warning(&limits),
            "limits differed from the plan's in 1 of 2 rounds: memory was 512M, not 256M"
        );
        let again = |never_measured| {
            let loads = vec!["load".to_owned()];
            cell_warning(&CellWarning::LoadedAgain { rounds: 2, of: 2, loads, never_measured })
        };
        assert_eq!(again(false), "tables of load loaded again without measurement in 2 of 2 rounds");
        assert!(again(true).ends_with("in 2 of 2 rounds; each measured load failed"), "{}", again(true));
    }

    #[test]
    fn stalls_say_both_ratios_where_both_are_known() {
        let stalls = TestWarning::Stalls { whole_ratio: 0.31 };
        assert_eq!(
            test_warning(&stalls, Some(0.72)),
            "stalls: the ratio over the whole time is 0.31, 0.72 in neighbouring slices"
        );
        assert_eq!(test_warning(&stalls, None), "stalls: the ratio over the whole time is 0.31");
        let counted = TestWarning::StallsCounted { sliced_ratio: 0.72 };
        assert_eq!(
            test_warning(&counted, Some(0.31)),
            "stalls in every round, which count: without them the ratio is 0.72"
        );
    }

    #[test]
    fn a_system_whose_threads_alone_were_pinned_is_named() {
        let pinned = TestWarning::PinnedAlone { system: "maria".to_owned(), rounds: 1 };
        assert_eq!(
            test_warning(&pinned, None),
            "in 1 round only the threads of maria were pinned to cores of their own"
        );
    }

    #[test]
    fn a_missing_verdict_has_its_reason() {
        assert_eq!(
            undecided(&Undecided::TooFewRounds { rounds: 1, wanted: 6 }),
            "1 round of the 6 that a verdict needs"
        );
        assert_eq!(undecided(&Undecided::NoLevel { system: "a".to_owned() }), "the rate of a has no level");
    }
}
