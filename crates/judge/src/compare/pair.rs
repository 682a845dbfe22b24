//! Two systems in a test: the ratio of each round, and the estimate from all rounds.

use std::collections::BTreeMap;

use dyno_stats::{
    Interval, Margin, Method, RatioEstimate, SliceRatio, mean_of_slices, ratio_of_rounds, slice_ratio,
    unbiased_share,
};
use dyno_store::{Trial, TrialRecord};

use crate::compare::sessions::{Replicates, Session, SessionPairs, Unpaired};
use crate::trial::evidence::Evidence;
use crate::trial::of_run::pairs;
use crate::trial::quantity::{Quantity, ln_rates};

/// A system's completed trials in a test.
#[derive(Clone, Copy)]
pub(crate) struct SystemTrials<'a> {
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) trials: &'a [&'a Trial],
}

impl<'a> SystemTrials<'a> {
    pub(crate) fn of(evidence: &'a Evidence<'a>, step: &str, clients: u32, system: &str) -> Self {
        Self { evidence, trials: evidence.trials.completed(step, clients, system) }
    }

    pub(crate) fn is_of_run(self, other: Self) -> bool {
        std::ptr::eq(self.evidence.run, other.evidence.run)
    }

    /// The logarithm of the quantity in each round with a positive figure.
    pub(crate) fn ln_figures(self, quantity: Quantity) -> Vec<(u32, f64)> {
        let figure = |trial: &&Trial| self.evidence.figure(trial, quantity).filter(|figure| *figure > 0.0);
        self.trials.iter().filter_map(|trial| Some((trial.record.round, figure(trial)?.ln()))).collect()
    }
}

/// The log ratio of candidate and base in one round, or in one pair of sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairRound {
    /// The number of the round or of the pair of sessions, from 0.
    pub(crate) round: u32,
    /// The reported log ratio. With slices, it combines the estimate from slices with `whole_ln_ratio`, as [`combine`]
    /// explains. Without slices, it equals `whole_ln_ratio`.
    pub(crate) ln_ratio: f64,
    /// The estimate from slices. `None` for trials without slices, for quantities other than throughput, and
    /// between two runs.
    pub(crate) slices: Option<SliceRatio>,
    /// The log ratio of all operations over the whole time.
    pub(crate) whole_ln_ratio: f64,
    /// Whether stalls that a system itself causes are part of `ln_ratio`. `ln_ratio` is then mostly `whole_ln_ratio`,
    /// which differs from the ratio of slices by more than the default margin.
    pub(crate) counts_stalls: bool,
}

/// The ratios of two systems' trials in a test, for a quantity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ratios {
    /// Rounds that both systems completed.
    Paired(Vec<PairRound>),
    /// Pairs of sessions, one of each system, that are neighbours in time.
    Sessions(SessionPairs),
    /// Values of two systems that were not measured in turns.
    Unpaired(Unpaired),
}

impl Ratios {
    /// The ratios of a quantity between two sides with at least one session each. The trials of a round are paired
    /// within one run, and between two runs that were measured in turns. If a side has several sessions, the sessions
    /// that are neighbours in time are paired, unless an anchor cancels the effects of sessions.
    pub(crate) fn between(base: &[Session<'_>], candidate: &[Session<'_>], quantity: Quantity) -> Self {
        match (base, candidate) {
            ([base], [candidate]) if take_turns(base.part, candidate.part) => {
                Self::of(base.part, candidate.part, quantity)
            }
            ([_], [_]) => Self::Unpaired(Unpaired::of(base, candidate, quantity)),
            _ if base.iter().chain(candidate).all(|session| session.anchor.is_some()) => {
                Self::Unpaired(Unpaired::of(base, candidate, quantity))
            }
            _ => Self::Sessions(SessionPairs::of(base, candidate, quantity)),
        }
    }

    /// The ratios of a quantity in the rounds of two systems that were measured in turns.
    pub(crate) fn of(base: SystemTrials<'_>, candidate: SystemTrials<'_>, quantity: Quantity) -> Self {
        let round = |(base_trial, own): (&Trial, &Trial)| {
            let figure = |part: SystemTrials<'_>, trial| part.evidence.figure(trial, quantity);
            let (base_figure, own_figure) = (figure(base, base_trial)?, figure(candidate, own)?);
            let is_sliced = base.is_of_run(candidate) && quantity == Quantity::Throughput;
            let slices = is_sliced.then(|| slice_ratio(&cycles(&base_trial.record, &own.record))).flatten();
            // Margins and means are logarithmic, so figures of 0 or less are left out.
            let whole_ln_ratio =
                (base_figure > 0.0 && own_figure > 0.0).then(|| (own_figure / base_figure).ln())?;
            let ln_ratio = slices.map_or(whole_ln_ratio, |slices| slices.ln_ratio);
            Some(PairRound {
                round: own.record.round,
                ln_ratio,
                slices,
                whole_ln_ratio,
                counts_stalls: false,
            })
        };
        let mut rounds: Vec<PairRound> = pairs(base.trials, candidate.trials).filter_map(round).collect();
        combine(&mut rounds);
        Self::Paired(rounds)
    }

    /// The paired rounds, which both systems completed; empty if rounds are unpaired.
    pub(crate) fn rounds(&self) -> &[PairRound] {
        match self {
            Self::Paired(rounds) => rounds,
            Self::Sessions(_) | Self::Unpaired(_) => &[],
        }
    }

    /// The paired rounds, or the pairs of sessions; `None` if values are unpaired.
    pub(crate) fn pairs(&self) -> Option<&[PairRound]> {
        match self {
            Self::Paired(pairs) | Self::Sessions(SessionPairs { pairs, .. }) => Some(pairs),
            Self::Unpaired(_) => None,
        }
    }

    pub(crate) fn replicates(&self) -> Replicates {
        match self {
            Self::Paired(_) => Replicates::PairedRounds,
            Self::Sessions(_) => Replicates::PairedSessions,
            Self::Unpaired(unpaired) => unpaired.replicates,
        }
    }

    /// Number of rounds that both systems have, or of pairs of sessions. If values are unpaired, it is the number of
    /// values of the side with fewer values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Paired(pairs) | Self::Sessions(SessionPairs { pairs, .. }) => pairs.len(),
            Self::Unpaired(Unpaired { base, candidate, .. }) => base.len().min(candidate.len()),
        }
    }

    /// The estimate from all rounds or sessions; `None` if there is nothing to compare.
    pub(crate) fn estimate(&self, margin: Margin, confidence: f64) -> Option<RatioEstimate> {
        match self {
            Self::Paired(pairs) => match pairs.as_slice() {
                [only] => Some(of_one_round(only, confidence)),
                _ => ratio_of_rounds(&ln_ratios(pairs), margin, confidence),
            },
            Self::Sessions(pairs) => pairs.estimate(margin, confidence),
            Self::Unpaired(unpaired) => unpaired.estimate(margin, confidence),
        }
    }
}

/// Whether two systems were measured in turns. Systems of the same run always are.
fn take_turns(base: SystemTrials<'_>, candidate: SystemTrials<'_>) -> bool {
    base.is_of_run(candidate) || are_interleaved(base.trials, candidate.trials)
}

/// Combines the ratio of neighbouring slices with the ratio of all operations over the whole time.
///
/// By definition, the ratio of throughputs is the ratio of all operations over the whole time. This ratio varies
/// much, because a stall of the host falls into a slice of one system or the other. The ratio of slices is a
/// trimmed mean, which leaves out the extreme cycles. It therefore hides stalls of the system itself, and it is
/// biased if one system's slices vary more than the other's. So the difference of the two ratios is added to the
/// ratio of slices to the extent that the difference is consistent over the rounds.
fn combine(rounds: &mut [PairRound]) {
    let distances: Vec<f64> = rounds
        .iter()
        .filter(|round| round.slices.is_some())
        .map(|round| round.whole_ln_ratio - round.ln_ratio)
        .collect();
    let share = unbiased_share(&distances);
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let counts_stalls = share > 0.5 && mean.abs() > Margin::least().high().ln();
    for round in rounds.iter_mut().filter(|round| round.slices.is_some()) {
        round.ln_ratio += share * (round.whole_ln_ratio - round.ln_ratio);
        round.counts_stalls = counts_stalls;
    }
}

pub(crate) fn ln_ratios(rounds: &[PairRound]) -> Vec<f64> {
    rounds.iter().map(|round| round.ln_ratio).collect()
}

/// The estimate from a single round. It has no p-values, because other instances of the same systems may differ by
/// more than the slices show.
fn of_one_round(round: &PairRound, confidence: f64) -> RatioEstimate {
    let interval = round.slices.and_then(|slices| slices.interval(confidence));
    with_interval_of_one_round(round.ln_ratio, interval)
}

/// The mean over the tests of a single round. Its interval holds for this pair of instances only. `None` without a
/// test.
pub(crate) fn mean_of_one_round(tests: &[&PairRound], confidence: f64) -> Option<RatioEstimate> {
    let ln_ratio = tests.iter().map(|test| test.ln_ratio).sum::<f64>() / tests.len() as f64;
    let slices: Option<Vec<SliceRatio>> = tests.iter().map(|test| test.slices).collect();
    let interval = slices.and_then(|slices| mean_of_slices(&slices)?.interval(confidence));
    (!tests.is_empty()).then(|| with_interval_of_one_round(ln_ratio, interval))
}

fn with_interval_of_one_round(ln_ratio: f64, interval: Option<Interval>) -> RatioEstimate {
    let method = if interval.is_some() { Method::ThisPairOnly } else { Method::None };
    RatioEstimate { interval, method, ..RatioEstimate::without_interval(ln_ratio.exp()) }
}

/// The log ratio of the two systems' slices, in each cycle in which both systems have a slice.
pub(crate) fn cycles(base: &TrialRecord, candidate: &TrialRecord) -> BTreeMap<u32, f64> {
    let base = ln_rates(base);
    let own = ln_rates(candidate);
    own.into_iter().filter_map(|(cycle, own)| Some((cycle, own - base.get(&cycle)?))).collect()
}

/// Whether the trials of two runs were measured in turns: both trials of a round begin before either trial of the
/// next round. The two trials of a round are then as close in time as within one run.
fn are_interleaved(base: &[&Trial], candidate: &[&Trial]) -> bool {
    let starts: Vec<(i64, i64)> = pairs(base, candidate)
        .map(|(base, own)| (base.record.started_at_ms, own.record.started_at_ms))
        .map(|(base, own)| (base.min(own), base.max(own)))
        .collect();
    starts.len() > 1 && starts.windows(2).all(|two| two[0].1 < two[1].0)
}
