//! Treats each family of equal systems as the run of one night of a history.

use dyno_judge::{HistoryGate, HistoryRule, histories};
use dyno_stats::{ChangeRule, SplitMix64};
use dyno_store::{Run, RunId};

use super::experiments::experiments;
use super::score::{Goal, Score};
use super::sessions::with_anchor;

/// Number of histories. Each has all nights, in a different random order.
const HISTORIES: usize = 60;
/// The rule that `dyno history --gate` applies.
const GATE: HistoryGate = HistoryGate { runs: 14, error_max: 0.05 };
const DAY_MS: i64 = 86_400_000;

/// Returns the share of histories with a regression. In each night, one of the two systems is the anchor. All histories
/// consist of the same nights, so they are not independent. Therefore the interval is narrower than it would be with
/// the same number of independent histories. There are no histories if the nights are so few that no change could be
/// found.
pub(super) fn score(run: &Run, family_rounds: usize, goal: Goal) -> Score {
    let nights: Vec<Run> = experiments(run, family_rounds).iter().map(with_anchor).collect();
    let mut random = SplitMix64::new(40);
    let can_change = nights.len() >= 2 * ChangeRule::default().segment_min;
    let drawn = if can_change { HISTORIES } else { 0 };
    let alarmed = (0..drawn).filter(|_| {
        let mut order: Vec<usize> = (0..nights.len()).collect();
        random.shuffle(&mut order);
        let history: Vec<Run> =
            (1..).zip(order).map(|(number, night)| dated(&nights[night], number)).collect();
        has_regression(&history)
    });
    let alarmed = alarmed.count();
    let of = format!("histories of {} of these as nights, with a regression", nights.len());
    Score::share(of, alarmed, drawn, goal)
}

fn dated(night: &Run, number: i64) -> Run {
    let mut night = night.clone();
    night.id = RunId(number);
    night.record.started_at_ms = number * DAY_MS;
    night
}

fn has_regression(nights: &[Run]) -> bool {
    let rule = |permutations| HistoryRule {
        changes: ChangeRule { permutations, ..ChangeRule::default() },
        ..HistoryRule::default()
    };
    let usual = ChangeRule::default().permutations;
    // A history has the tests of one system only, because the other system is the anchor.
    let tests = nights.first().map_or(0, |night| night.steps.iter().map(|step| step.clients.len()).sum());
    let found = histories(nights, &rule(usual.max(GATE.permutations(tests))));
    found.first().is_some_and(|history| !GATE.regressions(history).is_empty())
}
