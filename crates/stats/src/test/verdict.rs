//! The rule that derives a verdict from an interval.

use serde::{Deserialize, Serialize};

use crate::estimate::interval::Interval;

/// Default for the smallest difference that matters in practice. Differences between machines and memory layouts
/// are about as large (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!", ASPLOS
/// 2009).
pub const MARGIN_MIN: f64 = 0.02;

/// Result of comparing a candidate with the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better by more than the margin.
    Improved,
    /// Worse by more than the margin.
    Regressed,
    /// Within the margin.
    Same,
    /// The interval supports none of the other verdicts yet.
    NotEnoughEvidence,
}

/// Direction in which a quantity improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    /// For example latency and cost.
    Lower,
}

/// A practical margin around "no change", as a factor: 2% means from 1/1.02 to 1.02. Because both ends are the same
/// factor, the verdict on B against A is the opposite of the verdict on A against B.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Margin(f64);

impl Margin {
    /// A margin of this relative size: 0.02 is 2%. `None` if the size is negative or not finite.
    pub fn new(relative: f64) -> Option<Self> {
        (relative.is_finite() && relative >= 0.0).then_some(Self(relative))
    }

    /// The default margin, [`MARGIN_MIN`].
    pub fn least() -> Self {
        Self(MARGIN_MIN)
    }

    pub fn relative(self) -> f64 {
        self.0
    }

    /// The largest ratio within the margin.
    pub fn high(self) -> f64 {
        1.0 + self.0
    }

    /// The smallest ratio within the margin.
    pub fn low(self) -> f64 {
        1.0 / (1.0 + self.0)
    }

    /// The margin of alarms. `of_the_same` is the interval of the ratio between two measurements of the same system. If
    /// the whole interval lies beyond this margin, equal systems differ by more than the margin, for a reason that the
    /// variation between rounds does not show. The margin of alarms then extends to the far end of the interval. An
    /// interval that only partly lies beyond the margin does not widen it.
    #[must_use]
    pub fn raised_by(self, of_the_same: Interval) -> Self {
        let is_beyond = of_the_same.low > self.high() || of_the_same.high < self.low();
        if is_beyond { Self(f64::max(of_the_same.high, 1.0 / of_the_same.low) - 1.0) } else { self }
    }

    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

/// Judges the interval of the ratio of candidate to base. The verdict is improved or regressed if the whole
/// interval lies beyond the margin, and same if the whole interval lies within the margin. An interval that crosses
/// an edge of the margin gives no verdict.
///
/// This corresponds to two one-sided tests of equivalence (Schuirmann, Journal of Pharmacokinetics and
/// Biopharmaceutics 15(6), 1987), with distribution-free intervals.
pub fn verdict(interval: Option<Interval>, margin: Margin, better: Better) -> Verdict {
    let Some(interval) = interval else { return Verdict::NotEnoughEvidence };
    match better {
        _ if interval.low >= margin.low() && interval.high <= margin.high() => Verdict::Same,
        Better::Higher if interval.low > margin.high() => Verdict::Improved,
        Better::Lower if interval.high < margin.low() => Verdict::Improved,
        Better::Higher if interval.high < margin.low() => Verdict::Regressed,
        Better::Lower if interval.low > margin.high() => Verdict::Regressed,
        _ => Verdict::NotEnoughEvidence,
    }
}

/// Whether the interval shows that the candidate is not worse by more than the margin. The candidate may be better
/// or the same.
pub fn rules_out_regression(interval: Option<Interval>, margin: Margin, better: Better) -> bool {
    interval.is_some_and(|interval| match better {
        Better::Higher => interval.low >= margin.low(),
        Better::Lower => interval.high <= margin.high(),
    })
}

/// Largest number of further rounds that is reported. If more are needed, the ratio lies practically on the
/// margin's edge.
const MORE_ROUNDS_MAX: f64 = 1000.0;

/// Estimates how many more rounds a verdict takes; `None` for more than 1000. `least` is the smallest total number
/// of rounds.
///
/// Hodges and Lehmann's interval shrinks as 1/√n. If the ratio does not change, a verdict takes n·(w/d)² rounds in
/// total, on a logarithmic scale. w is the distance from the ratio to the end of the interval that is nearer to the
/// margin's edge. d is the distance from the ratio to that edge. If the ratio lies within the margin, the edge that
/// takes more rounds counts.
pub fn more_rounds(
    ratio: f64,
    interval: Option<Interval>,
    rounds: usize,
    least: usize,
    margin: Margin,
) -> Option<usize> {
    let least = least.saturating_sub(rounds).max(1);
    let Some(interval) = interval else { return Some(least) };
    let (centre, edge) = (ratio.ln(), margin.high().ln());
    let (below, above) = (centre - interval.low.ln(), interval.high.ln() - centre);
    let growth = |width: f64, distance: f64| (width / distance).powi(2);
    let growth = if centre > edge {
        growth(below, centre - edge)
    } else if centre < -edge {
        growth(above, -edge - centre)
    } else {
        f64::max(growth(above, edge - centre), growth(below, edge + centre))
    };
    let more = (rounds as f64 * (growth - 1.0)).ceil();
    (more <= MORE_ROUNDS_MAX).then(|| least.max(more.max(1.0) as usize))
}

#[cfg(test)]
mod tests;
