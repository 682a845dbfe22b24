//! Systems that were measured in separate sessions: their replicates, and what their ratio can show.

use dyno_stats::{CONFIDENCE, Margin, RatioEstimate, centre_of_rounds, ratio_of_runs};
use serde::Serialize;

use crate::compare::pair::{Ratios, SystemTrials};
use crate::trial::quantity::Quantity;

/// The kind of independent values from which a ratio and its interval are computed.
///
/// Whatever changes between sessions (the host's clock and memory, the layout of files, neighbours) affects all
/// rounds of a session alike. Therefore even many rounds of two sessions cannot distinguish a difference between
/// the systems from a difference between the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replicates {
    /// The ratios of rounds in which both systems were measured.
    PairedRounds,
    /// The rounds of one session a side. Each is divided by the same round of the shared anchor, which cancels the
    /// effects of the session.
    AnchoredRounds,
    /// Sessions, each with one value: the middle of its rounds.
    Sessions,
    /// No independent values: each side is one session, and no anchor shows the effect of the session.
    OneSession,
}

/// A system's completed trials in a test of one session.
#[derive(Clone, Copy)]
pub(crate) struct Session<'a> {
    pub(crate) part: SystemTrials<'a>,
    /// The trials of the anchor, if figures are divided by the anchor's.
    pub(crate) anchor: Option<SystemTrials<'a>>,
}

impl Session<'_> {
    /// The logarithm of the quantity in each round, or of its multiple of the anchor's.
    fn ln_figures(&self, quantity: Quantity) -> Vec<(u32, f64)> {
        let Some(anchor) = self.anchor else { return self.part.ln_figures(quantity) };
        let ratios = Ratios::of(anchor, self.part, quantity);
        ratios.rounds().iter().map(|round| (round.round, round.ln_ratio)).collect()
    }

    /// The middle of the rounds; `None` without a round.
    fn ln_figure(&self, quantity: Quantity) -> Option<f64> {
        let values: Vec<f64> = self.ln_figures(quantity).into_iter().map(|(_, value)| value).collect();
        Some(centre_of_rounds(&values, CONFIDENCE)?.value)
    }
}

/// The values of two sides that did not take turns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unpaired {
    pub(crate) replicates: Replicates,
    /// Logarithms by round, or by the position of the session.
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
        Self { replicates: Replicates::Sessions, base: values(base), candidate: values(candidate) }
    }

    /// The estimate from all values; `None` if a side has no values.
    pub(crate) fn estimate(&self, margin: Margin, confidence: f64) -> Option<RatioEstimate> {
        let values = |side: &[(u32, f64)]| -> Vec<f64> { side.iter().map(|(_, value)| *value).collect() };
        estimate(self.replicates, &values(&self.base), &values(&self.candidate), margin, confidence)
    }
}

/// Estimates a ratio from the logarithms of two sides. Without replicates it has no interval and no p-values.
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
