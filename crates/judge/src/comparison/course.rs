//! What the course of trials says about the ratio of two systems.

use dyno_stats::{Level, Margin, level, median};

use crate::pair::{PairRound, Part, cycles};
use crate::trials::pairs;

/// A system's own rate may move by less than this factor: what moves both, such as a host whose clock rate falls,
/// leaves the ratio alone.
const OWN_CHANGE_MAX: f64 = 1.3;

/// A ratio by whole trials may move by less than this factor.
const RATIO_CHANGE_MAX: f64 = 1.1;

/// Standard errors by which stalls have to stand out.
const STALL_ERRORS_MIN: f64 = 3.0;

/// Whether the two have no level in most rounds: the ratio has a trend, or a system's own rate a great one. Then says
/// whether it is rather the base's rate that moves.
pub(super) fn no_level(base: Part<'_>, candidate: Part<'_>) -> Option<bool> {
    let (mut known, mut without, mut moves) = (0, 0, 0.0);
    for (base_trial, own_trial) in pairs(base.trials, candidate.trials) {
        let (of_base, of_own) = (base.evidence.level(base_trial), candidate.evidence.level(own_trial));
        let (Some(of_base), Some(of_own)) = (of_base, of_own) else { continue };
        known += 1;
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
    (2 * without > known).then_some(moves > 0.0)
}

/// Whether one of two trials in one stretch has a trend that the other has not.
fn move_apart(of_base: Level, of_own: Level) -> bool {
    let apart = (of_own.change / of_base.change).ln().abs();
    apart >= RATIO_CHANGE_MAX.ln() && !(of_base.has_level() && of_own.has_level())
}

/// The ratio of all operations over all time, if in the round in the middle it differs from that of neighbouring
/// slices by more than the margin and more than chance.
pub(super) fn stalls(rounds: &[PairRound], margin: Margin) -> Option<f64> {
    let mut sliced: Vec<&PairRound> = rounds.iter().filter(|round| round.slices.is_some()).collect();
    let distance = |round: &PairRound| round.whole_ln_ratio - round.ln_ratio;
    sliced.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let middle = sliced.get(sliced.len() / 2)?;
    let error = middle.slices?.standard_error?;
    let least = f64::max(margin.high().ln(), STALL_ERRORS_MIN * error);
    (distance(middle).abs() > least).then(|| middle.whole_ln_ratio.exp())
}

/// The ratio of neighbouring slices, median of the rounds, if stalls count in the ratio.
pub(super) fn counted_stalls(rounds: &[PairRound]) -> Option<f64> {
    let counted = rounds.iter().filter(|round| round.counts_stalls);
    let of_slices: Vec<f64> = counted.filter_map(|round| Some(round.slices?.ln_ratio)).collect();
    Some(median(&of_slices)?.exp())
}
