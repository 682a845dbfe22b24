//! The rule that turns an interval into a verdict.

use serde::{Deserialize, Serialize};

use crate::median_interval::Interval;

/// The least difference that matters in practice, unless another is asked for. Machines and layouts differ by as
/// much (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!", ASPLOS 2009).
pub const MARGIN_MIN: f64 = 0.02;

/// What became of a candidate against the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better by more than the margin.
    Improved,
    /// Worse by more than the margin.
    Regressed,
    /// Within the margin.
    Same,
    /// None of these can be said yet.
    NotEnoughEvidence,
}

/// Which way a quantity is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    /// As for latency and cost.
    Lower,
}

/// A practical margin around "no change", as a factor: 2% is from 1/1.02 to 1.02. So the verdict on B against A
/// is the opposite of that on A against B.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Margin(f64);

impl Margin {
    /// A margin of a relative size: 0.02 is 2%. None if it is negative or not finite.
    pub fn new(relative: f64) -> Option<Self> {
        (relative.is_finite() && relative >= 0.0).then_some(Self(relative))
    }

    /// [`MARGIN_MIN`].
    pub fn least() -> Self {
        Self(MARGIN_MIN)
    }

    pub fn relative(self) -> f64 {
        self.0
    }

    /// The greatest ratio within.
    pub fn high(self) -> f64 {
        1.0 + self.0
    }

    /// The least ratio within.
    pub fn low(self) -> f64 {
        1.0 / (1.0 + self.0)
    }

    /// The margin of alarms that two measurements of the same thing call for: as far from 1 as their ratio may truly
    /// be, by its interval or, without one, as it was. At least this one.
    #[must_use]
    pub fn raised_by(self, ratio_of_the_same: f64, interval: Option<Interval>) -> Self {
        let (low, high) = interval.map_or((ratio_of_the_same, ratio_of_the_same), |it| (it.low, it.high));
        Self(self.0.max(f64::max(high, 1.0 / low) - 1.0))
    }

    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

/// Judges the interval of a ratio candidate : base. Improved or regressed only if all of it lies beyond the margin,
/// same only if all of it lies within: "no difference was found" is never taken for "there is none".
///
/// The two one-sided tests of equivalence (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15(6),
/// 1987), here with distribution-free intervals.
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

/// Whether the interval says that the candidate is not worse by more than the margin, be it better or the same.
pub fn rules_out_regression(interval: Option<Interval>, margin: Margin, better: Better) -> bool {
    interval.is_some_and(|interval| match better {
        Better::Higher => interval.low >= margin.low(),
        Better::Lower => interval.high <= margin.high(),
    })
}

/// More rounds than this are not worth naming: the ratio lies on the margin, for all one can tell.
const MORE_ROUNDS_MAX: f64 = 1000.0;

/// About how many more rounds a verdict takes, of which `least` is the fewest in all; none if the ratio is so close to
/// the margin that it takes more than 1000.
///
/// An interval of Hodges and Lehmann's shrinks as 1/√n. If the ratio
/// stays what it is, then it takes n·(w/d)² rounds in all, where w is how far the interval now reaches towards the
/// margin's edge, and d how far the edge is, on a logarithmic scale.
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
