//! Goals for the figures of a comparison. The interval of a figure over the rounds decides: a goal is met if the whole
//! interval is within the limit, and missed if the whole interval is outside.

use dyno_stats::{CONFIDENCE, centre_of_rounds};

use crate::support::child::Sample;
use crate::support::pair::{self, Pair};

/// The range in which a figure must lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
    Within(f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Met,
    Missed,
    Undecided,
}

impl Limit {
    fn outcome(self, low: f64, high: f64) -> Outcome {
        let (from, to) = match self {
            Self::AtMost(limit) => (f64::NEG_INFINITY, limit),
            Self::AtLeast(limit) => (limit, f64::INFINITY),
            Self::Within(from, to) => (from, to),
        };
        if low >= from && high <= to {
            Outcome::Met
        } else if high < from || low > to {
            Outcome::Missed
        } else {
            Outcome::Undecided
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
            Self::Within(from, to) => format!("{from} to {to}"),
        }
    }
}

impl Outcome {
    fn text(self) -> &'static str {
        match self {
            Self::Met => "yes",
            Self::Missed => "no",
            Self::Undecided => "undecided",
        }
    }
}

/// A table of goals that is being filled.
pub(crate) struct Goals {
    table: comfy_table::Table,
    outcomes: Vec<Outcome>,
}

impl Goals {
    /// Makes an empty table. Each row compares two sides, whose names are `sides`.
    pub(crate) fn new(sides: [&str; 2]) -> Self {
        let [theirs, ours] = sides;
        let headings = ["what", theirs, ours, "figure", "95% interval", "goal", "met"];
        Self { table: pair::table(&headings), outcomes: Vec::new() }
    }

    /// Adds a row with the second side's figure divided by the first side's.
    pub(crate) fn ratio(&mut self, what: &str, pair: &Pair, of: fn(&Sample) -> f64, limit: Option<Limit>) {
        let (theirs, ours) = pair.medians(of);
        let logs: Vec<f64> = pair.each_ratio(of).iter().map(|ratio| ratio.ln()).collect();
        let sides = [format!("{theirs:.2}"), format!("{ours:.2}")];
        self.figure(what, sides, &logs, f64::exp, limit);
    }

    /// Adds a figure that has one value per round.
    pub(crate) fn values(&mut self, what: &str, values: &[f64], limit: Option<Limit>) {
        self.values_beside(what, [String::new(), String::new()], values, limit);
    }

    /// As [`values`](Self::values), but the row also shows two texts: for each side, the figure from which the values
    /// were computed.
    pub(crate) fn values_beside(
        &mut self,
        what: &str,
        sides: [String; 2],
        values: &[f64],
        limit: Option<Limit>,
    ) {
        self.figure(what, sides, values, |value| value, limit);
    }

    fn figure(
        &mut self,
        what: &str,
        sides: [String; 2],
        values: &[f64],
        shown: fn(f64) -> f64,
        limit: Option<Limit>,
    ) {
        let Some(centre) = centre_of_rounds(values, CONFIDENCE) else { return };
        let ends = centre.interval.map(|interval| (shown(interval.low), shown(interval.high)));
        let outcome =
            limit.map(|limit| ends.map_or(Outcome::Undecided, |(low, high)| limit.outcome(low, high)));
        let interval = ends.map_or_else(String::new, |(low, high)| format!("{low:.3}–{high:.3}"));
        let cells =
            [format!("{:.3}", shown(centre.value)), interval, limit.map(Limit::text).unwrap_or_default()];
        self.row(what, sides, cells, outcome);
    }

    /// Adds something that must be the same on both sides.
    pub(crate) fn same(&mut self, what: &str, theirs: &str, ours: &str) {
        let outcome = if theirs == ours { Outcome::Met } else { Outcome::Missed };
        let cells = [String::new(), String::new(), "the same".to_owned()];
        self.row(what, [theirs.to_owned(), ours.to_owned()], cells, Some(outcome));
    }

    fn row(&mut self, what: &str, sides: [String; 2], cells: [String; 3], outcome: Option<Outcome>) {
        self.outcomes.extend(outcome);
        let met = outcome.map_or("", Outcome::text).to_owned();
        self.table.add_row([what.to_owned()].into_iter().chain(sides).chain(cells).chain([met]));
    }

    /// Prints the table. The title says how many goals are met, missed and undecided.
    pub(crate) fn print(self, title: &str) {
        let count = |wanted| self.outcomes.iter().filter(|outcome| **outcome == wanted).count();
        let (met, missed, undecided) =
            (count(Outcome::Met), count(Outcome::Missed), count(Outcome::Undecided));
        let title = format!("{title}: {met} goals met, {missed} missed, {undecided} undecided");
        pair::print(&title, self.table, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_decides_a_goal() {
        for (limit, low, high, outcome) in [
            (Limit::AtMost(0.6), 0.4, 0.6, Outcome::Met),
            (Limit::AtMost(0.6), 0.5, 0.7, Outcome::Undecided),
            (Limit::AtMost(0.6), 0.61, 0.7, Outcome::Missed),
            (Limit::AtLeast(1.0), 1.0, 1.2, Outcome::Met),
            (Limit::AtLeast(1.0), 0.9, 0.99, Outcome::Missed),
            (Limit::Within(0.44, 0.46), 0.441, 0.459, Outcome::Met),
            (Limit::Within(0.44, 0.46), 0.43, 0.45, Outcome::Undecided),
            (Limit::Within(0.44, 0.46), 0.47, 0.48, Outcome::Missed),
        ] {
            assert_eq!(limit.outcome(low, high), outcome, "{limit:?} {low} {high}");
        }
    }
}
