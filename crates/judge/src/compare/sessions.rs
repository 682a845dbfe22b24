//! Comparison of systems that were measured in separate sessions: which values are independent, and the ratio that
//! follows from them.

use dyno_stats::{CONFIDENCE, Margin, RatioEstimate, centre_of_rounds, ratio_of_rounds, ratio_of_runs};
use serde::Serialize;

use crate::compare::pair::{PairRound, Ratios, SystemTrials, ln_ratios};
use crate::compare::turns::{Start, neighbours};
use crate::trial::quantity::Quantity;

/// The kind of independent values, called replicates, from which a ratio and its interval are computed.
///
/// Whatever changes between sessions (the host's clock and memory, the layout of files, neighbours) affects all
/// rounds of a session alike. Therefore even many rounds of two sessions cannot distinguish a difference between
/// the systems from a difference between the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replicates {
    /// The ratios of rounds in which both systems were measured.
    PairedRounds,
    /// The ratios of pairs of sessions, one of each system, that are neighbours in time. The value of a session is the
    /// centre of its rounds.
    PairedSessions,
    /// Each system was measured in one session, and its rounds are the replicates. Each round's figure is divided by
    /// the anchor's figure in the same round, which cancels the effects of the session.
    AnchoredRounds,
    /// Each session is one replicate. Its value is the centre of its rounds, after each round's figure is divided by
    /// the anchor's figure in the same round.
    AnchoredSessions,
    /// There are no independent values, because each system was measured in one session and no anchor shows the effect
    /// of the session.
    OneSession,
}

/// A system's completed trials in a test of one session.
#[derive(Clone, Copy)]
pub(crate) struct Session<'a> {
    pub(crate) part: SystemTrials<'a>,
    /// The trials of the anchor, if figures are divided by the anchor's figures.
    pub(crate) anchor: Option<SystemTrials<'a>>,
}

impl Session<'_> {
    /// When the session's first trial started.
    fn start(&self) -> Start {
        let run = self.part.evidence.run;
        let first = run.trials.iter().map(|trial| trial.record.started_at_ms).min();
        (first.unwrap_or(run.record.started_at_ms), run.id.0)
    }

    /// The logarithm of the quantity in each round. With an anchor, the quantity is first divided by the anchor's.
    fn ln_figures(&self, quantity: Quantity) -> Vec<(u32, f64)> {
        let Some(anchor) = self.anchor else { return self.part.ln_figures(quantity) };
        let ratios = Ratios::of(anchor, self.part, quantity);
        ratios.rounds().iter().map(|round| (round.round, round.ln_ratio)).collect()
    }

    /// The centre of the rounds' logarithms; `None` without a round.
    fn ln_figure(&self, quantity: Quantity) -> Option<f64> {
        let values: Vec<f64> = self.ln_figures(quantity).into_iter().map(|(_, value)| value).collect();
        Some(centre_of_rounds(&values, CONFIDENCE)?.value)
    }
}

/// The ratios of sessions of two sides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionPairs {
    /// The pairs of sessions that are neighbours in time, numbered from 0 in the order of time. The numbers are the
    /// same for all tests of these sessions.
    pub(crate) pairs: Vec<PairRound>,
    /// The logarithm of each session's figure.
    base: Vec<f64>,
    candidate: Vec<f64>,
}

impl SessionPairs {
    pub(crate) fn of(base: &[Session<'_>], candidate: &[Session<'_>], quantity: Quantity) -> Self {
        let starts = |side: &[Session<'_>]| -> Vec<Start> { side.iter().map(Session::start).collect() };
        let figures = |side: &[Session<'_>]| -> Vec<Option<f64>> {
            side.iter().map(|session| session.ln_figure(quantity)).collect()
        };
        let (of_base, of_candidate) = (figures(base), figures(candidate));
        let pair = |(number, (base, own)): (u32, (usize, usize))| {
            let ln_ratio = of_candidate[own]? - of_base[base]?;
            Some(PairRound {
                round: number,
                ln_ratio,
                slices: None,
                whole_ln_ratio: ln_ratio,
                counts_stalls: false,
            })
        };
        Self {
            pairs: (0..).zip(neighbours(&starts(base), &starts(candidate))).filter_map(pair).collect(),
            base: of_base.into_iter().flatten().collect(),
            candidate: of_candidate.into_iter().flatten().collect(),
        }
    }

    /// Number of sessions with a figure, on the side that has fewer such sessions.
    pub(crate) fn sessions(&self) -> usize {
        self.base.len().min(self.candidate.len())
    }

    /// Whether there are too few pairs of neighbouring sessions for an interval, because the sides did not take turns.
    pub(crate) fn are_apart(&self) -> bool {
        self.pairs.len() < 2
    }

    /// The estimate from all pairs. If the sides did not take turns, it is the ratio of all sessions, without interval.
    pub(crate) fn estimate(&self, margin: Margin, confidence: f64) -> Option<RatioEstimate> {
        if !self.are_apart() {
            return ratio_of_rounds(&ln_ratios(&self.pairs), margin, confidence);
        }
        let of_all = ratio_of_runs(&self.base, &self.candidate, margin, confidence)?;
        Some(RatioEstimate::without_interval(of_all.ratio))
    }
}

/// The values of two sides that were not measured in turns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unpaired {
    pub(crate) replicates: Replicates,
    /// Logarithms of the values, by round or by the index of the session.
    pub(crate) base: Vec<(u32, f64)>,
    pub(crate) candidate: Vec<(u32, f64)>,
}

impl Unpaired {
    pub(crate) fn of(base: &[Session<'_>], candidate: &[Session<'_>], quantity: Quantity) -> Self {
        if let ([base], [candidate]) = (base, candidate) {
            let is_anchored = base.anchor.is_some() && candidate.anchor.is_some();
            return Self {
                replicates: if is_anchored { Replicates::AnchoredRounds } else { Replicates::OneSession },
                base: base.ln_figures(quantity),
                candidate: candidate.ln_figures(quantity),
            };
        }
        let values = |side: &[Session<'_>]| {
            let figures = (0..).zip(side).map(|(at, session)| Some((at, session.ln_figure(quantity)?)));
            figures.flatten().collect()
        };
        Self { replicates: Replicates::AnchoredSessions, base: values(base), candidate: values(candidate) }
    }

    /// The estimate from all values; `None` if a side has no values.
    pub(crate) fn estimate(&self, margin: Margin, confidence: f64) -> Option<RatioEstimate> {
        let values = |side: &[(u32, f64)]| -> Vec<f64> { side.iter().map(|(_, value)| *value).collect() };
        estimate(self.replicates, &values(&self.base), &values(&self.candidate), margin, confidence)
    }
}

/// Estimates a ratio from the logarithms of two sides. Without replicates, the estimate has no interval and no
/// p-values.
pub(crate) fn estimate(
    replicates: Replicates,
    base: &[f64],
    candidate: &[f64],
    margin: Margin,
    confidence: f64,
) -> Option<RatioEstimate> {
    let found = ratio_of_runs(base, candidate, margin, confidence)?;
    Some(match replicates {
        Replicates::OneSession => RatioEstimate::without_interval(found.ratio),
        _ => found,
    })
}

#[cfg(test)]
mod tests;
