//! Checks whether two systems' rates and their ratio were steady.

use dyno_stats::{Level, Margin, level, median};
use dyno_store::Trial;

use super::system::System;
use crate::compare::pair::{PairRound, SystemTrials, cycles};
use crate::trial::of_run::pairs;

/// A system's own rate counts as steady if it changes by less than this factor. The limit is generous, because
/// causes that affect both systems, such as a falling clock rate of the host, do not change the ratio.
const OWN_CHANGE_MAX: f64 = 1.3;

/// The ratio of two trials without slices counts as steady if it changes by less than this factor.
const RATIO_CHANGE_MAX: f64 = 1.1;

/// A difference that stalls make is reported only if it is at least this many standard errors.
const STALL_ERRORS_MIN: f64 = 3.0;

/// How the rates of two systems change, if their ratio is not steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NoLevel {
    /// Whether the base's rate changes more than the candidate's.
    pub(super) base_moves_more: bool,
    /// Whether the base's rate alone, without regard to the candidate's, is steady enough for verdicts.
    pub(super) is_base_steady: bool,
    /// The candidate's rate at the end divided by its rate at the start, median of the rounds. Known only if the
    /// candidate's rate falls in most rounds while the base's rate is level.
    pub(super) decay: Option<f64>,
}

/// Describes the change if the ratio is not steady in most rounds; `None` otherwise. The ratio is not steady in a
/// round if it has a trend, or if a system's own rate changes by [`OWN_CHANGE_MAX`] or more.
pub(super) fn no_level(base: &System<'_>, candidate: &System<'_>) -> Option<NoLevel> {
    let (mut without, mut moves) = (0, 0.0);
    let mut levels: Vec<(Level, Level)> = Vec::new();
    for (base, base_trial, candidate, own_trial) in rounds(base, candidate) {
        let (of_base, of_own) = (base.evidence.level(base_trial), candidate.evidence.level(own_trial));
        let (Some(of_base), Some(of_own)) = (of_base, of_own) else { continue };
        levels.push((of_base, of_own));
        let of_ratio: Vec<f64> = cycles(&base_trial.record, &own_trial.record).into_values().collect();
        let ratio_moves = match level(&of_ratio) {
            Some(of_ratio) => !of_ratio.has_level(),
            None => move_apart(of_base, of_own),
        };
        if ratio_moves || of_base.moves_by(OWN_CHANGE_MAX) || of_own.moves_by(OWN_CHANGE_MAX) {
            without += 1;
            moves += of_base.change.ln().abs() - of_own.change.ln().abs();
        }
    }
    let most = |is_so: &dyn Fn(&(Level, Level)) -> bool| {
        2 * levels.iter().filter(|levels| is_so(levels)).count() > levels.len()
    };
    let decays = |(of_base, of_own): &(Level, Level)| {
        of_base.has_level() && !of_own.has_level() && of_own.change < 1.0
    };
    let changes: Vec<f64> = levels.iter().map(|(_, of_own)| of_own.change).collect();
    (2 * without > levels.len()).then(|| NoLevel {
        base_moves_more: moves > 0.0,
        is_base_steady: most(&|(of_base, _)| !of_base.moves_by(OWN_CHANGE_MAX)),
        decay: median(&changes).filter(|_| most(&decays)),
    })
}

/// Pairs of trials of the same round. If there are several sessions, the first sessions of both sides come first,
/// then the second sessions, and so on.
fn rounds<'a>(
    base: &System<'a>,
    candidate: &System<'a>,
) -> impl Iterator<Item = (SystemTrials<'a>, &'a Trial, SystemTrials<'a>, &'a Trial)> {
    let sessions = base.parts().zip(candidate.parts());
    sessions.flat_map(|(base, candidate)| {
        let trials = pairs(base.trials, candidate.trials);
        trials.map(move |(of_base, own)| (base, of_base, candidate, own))
    })
}

/// Whether the ratio of two trials without slices changes: at least one trial's rate has a trend, and the changes of
/// the two rates differ by the factor [`RATIO_CHANGE_MAX`] or more.
fn move_apart(of_base: Level, of_own: Level) -> bool {
    let apart = (of_own.change / of_base.change).ln().abs();
    apart >= RATIO_CHANGE_MAX.ln() && !(of_base.has_level() && of_own.has_level())
}

/// Returns the ratio of all operations over the whole time, if stalls make it differ from the reported ratio. It is the
/// ratio of one round: the round in which the difference between the two ratios is the median of all rounds. `None` if
/// that difference is within the margin, or if chance explains it.
pub(super) fn stalls(rounds: &[PairRound], margin: Margin) -> Option<f64> {
    let mut sliced: Vec<&PairRound> = rounds.iter().filter(|round| round.slices.is_some()).collect();
    let distance = |round: &PairRound| round.whole_ln_ratio - round.ln_ratio;
    sliced.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let middle = sliced.get(sliced.len() / 2)?;
    let error = middle.slices?.standard_error?;
    let least = f64::max(margin.high().ln(), STALL_ERRORS_MIN * error);
    (distance(middle).abs() > least).then(|| middle.whole_ln_ratio.exp())
}

/// The ratio of neighbouring slices, which leaves stalls out: the median over the rounds whose reported ratio includes
/// stalls. `None` if there are no such rounds.
pub(super) fn counted_stalls(rounds: &[PairRound]) -> Option<f64> {
    let counted = rounds.iter().filter(|round| round.counts_stalls);
    let of_slices: Vec<f64> = counted.filter_map(|round| Some(round.slices?.ln_ratio)).collect();
    Some(median(&of_slices)?.exp())
}
