//! Checks whether two systems' rates, and so their ratio, were steady.

use dyno_stats::{Level, Margin, level, median};
use dyno_store::Trial;

use super::system::System;
use crate::compare::pair::{PairRound, SystemTrials, cycles};
use crate::trial::of_run::pairs;

/// A system's own rate counts as steady if it changes by less than this. Causes that affect both systems, such as a
/// falling clock rate of the host, do not change the ratio.
const OWN_CHANGE_MAX: f64 = 1.3;

/// A ratio of whole trials counts as steady if it changes by less than this.
const RATIO_CHANGE_MAX: f64 = 1.1;

/// The effect of stalls must differ from 0 by this many standard errors.
const STALL_ERRORS_MIN: f64 = 3.0;

/// Two systems without a steady ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NoLevel {
    /// Whether the base's rate changes more than the candidate's.
    pub(super) base_moves_more: bool,
    /// Whether the base's own rate is steady enough for verdicts.
    pub(super) is_base_steady: bool,
    /// The candidate's rate at the end divided by its rate at the start, median of the rounds. `None` unless it
    /// falls in most rounds while the base's rate is level.
    pub(super) decay: Option<f64>,
}

/// A finding, if the ratio is not steady in most rounds: it has a trend, or a system's own rate changes much.
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

/// The trials of each round. With several sessions, the trials of the first session of each side, then of the
/// second, and so on.
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

/// Whether one of two trials without slices has a trend that the other does not have.
fn move_apart(of_base: Level, of_own: Level) -> bool {
    let apart = (of_own.change / of_base.change).ln().abs();
    apart >= RATIO_CHANGE_MAX.ln() && !(of_base.has_level() && of_own.has_level())
}

/// The ratio of all operations over the whole time, in the middle round. `None` if it differs from the ratio of
/// neighbouring slices by no more than the margin, or no more than chance explains.
pub(super) fn stalls(rounds: &[PairRound], margin: Margin) -> Option<f64> {
    let mut sliced: Vec<&PairRound> = rounds.iter().filter(|round| round.slices.is_some()).collect();
    let distance = |round: &PairRound| round.whole_ln_ratio - round.ln_ratio;
    sliced.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let middle = sliced.get(sliced.len() / 2)?;
    let error = middle.slices?.standard_error?;
    let least = f64::max(margin.high().ln(), STALL_ERRORS_MIN * error);
    (distance(middle).abs() > least).then(|| middle.whole_ln_ratio.exp())
}

/// The median over rounds of the ratio of neighbouring slices, if the reported ratio includes stalls.
pub(super) fn counted_stalls(rounds: &[PairRound]) -> Option<f64> {
    let counted = rounds.iter().filter(|round| round.counts_stalls);
    let of_slices: Vec<f64> = counted.filter_map(|round| Some(round.slices?.ln_ratio)).collect();
    Some(median(&of_slices)?.exp())
}
