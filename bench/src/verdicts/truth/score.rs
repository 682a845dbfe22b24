//! A figure beside its goal.

use dyno_stats::{CONFIDENCE, Interval, proportion};

/// The confidence of the interval for goals with one limit. It is two-sided, so each of its ends is a one-sided bound
/// with the confidence [`CONFIDENCE`].
const ONE_SIDED: f64 = 2.0 * CONFIDENCE - 1.0;

/// The goal of a figure.
#[derive(Clone, Copy)]
pub(in crate::verdicts) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    Within(f64, f64),
    /// No goal. The figure is only shown.
    None,
}

/// A row of the table.
pub(in crate::verdicts) struct Score {
    what: String,
    of: String,
    measured: String,
    /// `None` for a single value. In that case it is unknown whether the goal is met.
    interval: Option<Interval>,
    goal: Goal,
    /// Formats a value of the row.
    unit: fn(f64) -> String,
}

impl Score {
    /// Makes the row of a share: `hits` of `of` experiments, with an exact interval.
    pub(in crate::verdicts) fn share(what: String, hits: usize, of: usize, goal: Goal) -> Self {
        let confidence = match goal {
            Goal::AtMost(_) | Goal::AtLeast(_) => ONE_SIDED,
            Goal::Within(..) | Goal::None => CONFIDENCE,
        };
        let interval = Some(proportion(hits, of, confidence));
        let measured = if of == 0 { String::new() } else { percent(hits as f64 / of as f64) };
        Self { what, of: format!("{hits} of {of}"), measured, interval, goal, unit: percent }
    }

    pub(super) fn figure(
        what: String,
        of: String,
        value: f64,
        interval: Option<Interval>,
        goal: Goal,
    ) -> Self {
        Self { what, of, measured: percent(value), interval, goal, unit: percent }
    }

    /// Adds the name of the engine to the row, because the equal systems run on several engines.
    pub(super) fn of(mut self, engine: &str) -> Self {
        self.what = format!("equals, {engine}: {}", self.what);
        self
    }

    /// Makes the row of a number that is known exactly.
    pub(super) fn count(what: String, of: String, value: usize, goal: Goal) -> Self {
        let (value, unit) = (value as f64, number as fn(f64) -> String);
        let interval = Some(Interval { low: value, high: value, confidence: 1.0 });
        Self { what, of, measured: unit(value), interval, goal, unit }
    }

    pub(in crate::verdicts) fn row(&self) -> [String; 6] {
        let goal = match self.goal {
            Goal::AtMost(most) => format!("<= {}", (self.unit)(most)),
            Goal::AtLeast(least) => format!(">= {}", (self.unit)(least)),
            Goal::Within(low, high) => format!("{} to {}", (self.unit)(low), (self.unit)(high)),
            Goal::None => String::new(),
        };
        let ends = |it: Interval| format!("{} to {}", (self.unit)(it.low), (self.unit)(it.high));
        let is_known = |it: &Interval| it.low < it.high;
        let interval = self.interval.filter(is_known).map_or_else(String::new, ends);
        let mark = self.mark().to_owned();
        [self.what.clone(), self.of.clone(), self.measured.clone(), interval, goal, mark]
    }

    /// Returns the mark of the row: met if the whole interval lies within the goal, missed if the whole interval
    /// lies outside.
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

fn number(value: f64) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(hits: usize, of: usize, goal: Goal) -> &'static str {
        Score::share(String::new(), hits, of, goal).mark()
    }

    #[test]
    fn a_goal_is_met_only_if_the_whole_interval_lies_within() {
        // 2 of 60 are 3.3%, but the interval reaches 10.1%. If no family has an alarm, at least 59 families are needed
        // to show that the goal is met.
        assert_eq!(mark(2, 60, Goal::AtMost(0.05)), "not shown");
        assert_eq!(mark(0, 58, Goal::AtMost(0.05)), "not shown");
        assert_eq!(mark(0, 59, Goal::AtMost(0.05)), "met");
        assert_eq!(mark(8, 60, Goal::AtMost(0.05)), "missed");
        assert_eq!(
            (mark(30, 30, Goal::AtLeast(0.9)), mark(28, 30, Goal::AtLeast(0.9))),
            ("met", "not shown")
        );
        assert_eq!(mark(20, 30, Goal::AtLeast(0.9)), "missed");
        assert_eq!(mark(0, 0, Goal::AtMost(0.05)), "not shown");
        assert_eq!(mark(1, 2, Goal::None), "");
    }

    #[test]
    fn two_methods_agree_only_if_their_difference_is_known_well_enough() {
        let figure = |low, high| {
            let interval = Some(Interval { low, high, confidence: CONFIDENCE });
            let goal = Goal::Within(-0.02, 0.02);
            Score::figure(String::new(), String::new(), f64::midpoint(low, high), interval, goal).mark()
        };
        assert_eq!(figure(-0.01, 0.015), "met");
        assert_eq!(figure(-0.10, 0.13), "not shown", "no difference was found, but a large one is possible");
        assert_eq!(figure(0.03, 0.10), "missed");
        let alone = Score::figure(String::new(), String::new(), 0.008, None, Goal::AtMost(0.015));
        assert_eq!(alone.mark(), "not shown");
    }

    #[test]
    fn an_exact_number_has_no_interval() {
        let count = Score::count("rounds".to_owned(), String::new(), 6, Goal::AtMost(7.0));
        assert_eq!(count.row()[2..], ["6", "", "<= 7", "met"].map(str::to_owned));
        assert_eq!(Score::count(String::new(), String::new(), 19, Goal::AtLeast(20.0)).mark(), "missed");
    }
}
