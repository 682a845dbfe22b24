//! The effect of a change, and whether the effect is large enough to explain the difference.

use dyno_stats::{Interval, Margin};
use serde::Serialize;

/// Throughput with a change as a multiple of the throughput without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbeEffect {
    pub ratio: f64,
    /// Interval of the ratio, at the confidence of a probe; `None` if the ratio was not judged.
    pub interval: Option<Interval>,
}

/// How the effects of parts of a change relate to the effect of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The product of the parts' effects is the effect of the whole.
    AddUp,
    /// The whole makes a larger difference than the product of the parts' effects.
    MoreTogether,
    /// The whole makes a smaller difference than the product of the parts' effects.
    LessTogether,
    /// A part could not be measured.
    Unclear,
}

/// Whether an effect shows the difference: whether it is at least [`SHARE_THAT_SHOWS`] of the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    Yes,
    No,
    /// The interval contains the threshold, or nothing was measured.
    Unresolved,
}

/// The log ratio that an effect must reach to show the difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    ln_ratio: f64,
}

/// An effect shows the difference if it is at least this share of the difference, on the logarithmic scale. If a
/// difference has two equal causes, each makes half of it. If it has four, each makes a quarter. The threshold lies
/// between a half and a quarter.
pub(super) const SHARE_THAT_SHOWS: f64 = 0.4;

impl Goal {
    /// The goal for a search for the causes of `effect`.
    pub(super) fn part_of(effect: ProbeEffect) -> Self {
        Self { ln_ratio: effect.ratio.ln() * SHARE_THAT_SHOWS }
    }

    pub(super) fn shown_by(self, effect: Option<ProbeEffect>) -> Shows {
        let Some(interval) = effect.and_then(|effect| effect.interval) else { return Shows::Unresolved };
        let (near, far) = toward(interval, self.ln_ratio);
        let wanted = self.ln_ratio.abs();
        if near > wanted {
            Shows::Yes
        } else if far < wanted {
            Shows::No
        } else {
            Shows::Unresolved
        }
    }
}

/// The logarithms of an interval's ends as distances from 0 in the direction of `ln_ratio`. The nearer end comes
/// first.
fn toward(interval: Interval, ln_ratio: f64) -> (f64, f64) {
    let (low, high) = (interval.low.ln(), interval.high.ln());
    if ln_ratio < 0.0 { (-high, -low) } else { (low, high) }
}

impl ProbeEffect {
    /// The inverse effect: throughput without the change as a multiple of the throughput with it.
    pub(crate) fn inverse(self) -> Self {
        let turned = |it: Interval| Interval { low: 1.0 / it.high, high: 1.0 / it.low, ..it };
        Self { ratio: 1.0 / self.ratio, interval: self.interval.map(turned) }
    }

    /// Whether the whole interval is beyond the margin, on the same side of 1 as the ratio.
    pub(super) fn is_beyond(&self, margin: Margin) -> bool {
        self.interval
            .is_some_and(|it| if self.ratio < 1.0 { it.high < margin.low() } else { it.low > margin.high() })
    }

    /// Whether the whole interval is within the margin.
    pub(super) fn is_within(&self, margin: Margin) -> bool {
        self.interval.is_some_and(|it| it.low >= margin.low() && it.high <= margin.high())
    }

    pub(super) fn is_like(&self, other: f64) -> bool {
        (self.ratio < 1.0) == (other < 1.0)
    }

    /// This effect as a share of another, on the logarithmic scale.
    pub(super) fn share_of(&self, other: &Self) -> f64 {
        self.ratio.ln() / other.ratio.ln()
    }

    /// How large this effect may be, as a share of the effect `other`. It is computed from the end of the interval that
    /// is farther from no effect, in either direction. `None` without an interval.
    pub(super) fn share_max(&self, other: &Self) -> Option<f64> {
        let interval = self.interval?;
        Some(interval.low.ln().abs().max(interval.high.ln().abs()) / other.ratio.ln().abs())
    }
}

impl Relation {
    /// How the effects of parts relate to the effect of the whole. They add up if the distance between the product
    /// of their intervals and the interval of the whole is at most the margin.
    pub(super) fn of(parts: &[Option<ProbeEffect>], together: ProbeEffect, margin: Margin) -> Self {
        let intervals: Option<Vec<Interval>> = parts.iter().map(|part| part.as_ref()?.interval).collect();
        let (Some(intervals), Some(whole)) = (intervals, together.interval) else { return Self::Unclear };
        let sum = |end: fn(&Interval) -> f64| intervals.iter().map(|it| end(it).ln()).sum::<f64>();
        let product = Interval { low: sum(|it| it.low).exp(), high: sum(|it| it.high).exp(), ..whole };
        let ln_ratio = together.ratio.ln();
        let ((near, far), (whole_near, whole_far)) = (toward(product, ln_ratio), toward(whole, ln_ratio));
        let margin = margin.high().ln();
        if whole_near > far + margin {
            Self::MoreTogether
        } else if whole_far + margin < near {
            Self::LessTogether
        } else {
            Self::AddUp
        }
    }
}
