//! A figure beside its goal.

use dyno_stats::{CONFIDENCE, Interval, proportion};

/// Confidence of the two-sided interval whose ends are one-sided bounds at [`CONFIDENCE`]. Used for goals
/// with one end.
const ONE_SIDED: f64 = 2.0 * CONFIDENCE - 1.0;

/// The goal of a figure.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    Within(f64, f64),
    /// No goal. The figure is only shown.
    None,
}

/// A row of the table.
pub(super) struct Score {
    what: String,
    of: String,
    measured: String,
    /// `None` for a single value. Then it is unknown whether the goal is met.
    interval: Option<Interval>,
    goal: Goal,
}

impl Score {
    /// A share of equal experiments, with its exact interval.
    pub(super) fn share(what: String, hits: usize, of: usize, goal: Goal) -> Self {
        let confidence = match goal {
            Goal::AtMost(_) | Goal::AtLeast(_) => ONE_SIDED,
            Goal::Within(..) | Goal::None => CONFIDENCE,
        };
        let interval = Some(proportion(hits, of, confidence));
        let measured = if of == 0 { String::new() } else { percent(hits as f64 / of as f64) };
        Self { what, of: format!("{hits} of {of}"), measured, interval, goal }
    }

    pub(super) fn figure(
        what: String,
        of: String,
        value: f64,
        interval: Option<Interval>,
        goal: Goal,
    ) -> Self {
        Self { what, of, measured: percent(value), interval, goal }
    }

    pub(super) fn row(&self) -> [String; 6] {
        let goal = match self.goal {
            Goal::AtMost(most) => format!("<= {}", percent(most)),
            Goal::AtLeast(least) => format!(">= {}", percent(least)),
            Goal::Within(low, high) => format!("{} to {}", percent(low), percent(high)),
            Goal::None => String::new(),
        };
        let ends = |it: Interval| format!("{} to {}", percent(it.low), percent(it.high));
        let interval = self.interval.map_or_else(String::new, ends);
        let mark = self.mark().to_owned();
        [self.what.clone(), self.of.clone(), self.measured.clone(), interval, goal, mark]
    }

    /// The mark of the row: met if the whole interval lies within the goal, missed if all of it lies outside.
    fn mark(&self) -> &'static str {
        let (low, high) = match self.goal {
            Goal::AtMost(most) => (f64::NEG_INFINITY, most),
            Goal::AtLeast(least) => (least, f64::INFINITY),
            Goal::Within(low, high) => (low, high),
            Goal::None => return "",
        };
        match self.interval {
            Some(interval) if low <= interval.low && interval.high <= high => "met",
            Some(interval) if interval.high < low || interval.low > high => "missed",
            _ => "not shown",
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}
