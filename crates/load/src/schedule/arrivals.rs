//! Arrivals of an open loop.
//!
//! Arrivals are drawn in *operational time*, in which one event arrives per unit on average. They are mapped to
//! clock time by the inverse of the cumulative rate Λ(t) (inversion method for non-homogeneous Poisson processes;
//! Çinlar, *Introduction to Stochastic Processes*, 1975, ch. 4.7). One method therefore gives constant and Poisson
//! spacing at steady, stepped or ramped rates.

use std::iter::Peekable;

use serde::{Deserialize, Serialize};

/// How arrivals are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Exponentially distributed gaps between arrivals, so that arrivals are independent.
    #[default]
    Poisson,
    /// Equal gaps between arrivals.
    Constant,
}

/// The rate at a point in time. The rate changes linearly between points, and stays constant after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatePoint {
    /// Seconds since the load began.
    pub at_seconds: f64,
    /// Events per second over all connections.
    pub per_second: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The rate over time: at least one point, in order of time. Two points at the same time make a step.
    pub points: Vec<RatePoint>,
    /// How arrivals are spaced.
    #[serde(default)]
    pub spacing: Spacing,
}

impl Rate {
    /// A constant rate with Poisson spacing.
    pub fn steady(per_second: f64) -> Self {
        Self { points: vec![RatePoint { at_seconds: 0.0, per_second }], spacing: Spacing::Poisson }
    }

    /// Time at which the cumulative rate of a worker reaches `target`; `None` if it never does. `share` is the
    /// worker's share of the rate.
    fn time_of(&self, target: f64, share: f64) -> Option<f64> {
        let mut reached = 0.0;
        for pair in self.points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let length = to.at_seconds - from.at_seconds;
            let area = share * length * f64::midpoint(from.per_second, to.per_second);
            if area > 0.0 && reached + area >= target {
                let slope = share * (to.per_second - from.per_second) / length;
                return Some(from.at_seconds + rise(share * from.per_second, slope, target - reached));
            }
            reached += area;
        }
        let last = self.points.last()?;
        let rate = share * last.per_second;
        (rate > 0.0).then(|| last.at_seconds + (target - reached) / rate)
    }
}

/// Time in which a rate that begins at `rate` and changes by `slope` per second adds up to `area`. This is the root
/// of `slope·t²/2 + rate·t = area`, in the form that is also exact for small slopes.
fn rise(rate: f64, slope: f64, area: f64) -> f64 {
    2.0 * area / (rate + (rate * rate + 2.0 * slope * area).max(0.0).sqrt())
}

/// The due times of one worker's share of a [`Rate`], in ns since the load began.
#[derive(Clone, Debug)]
struct Arrivals {
    rate: Rate,
    /// When the rate begins, in ns since the load began.
    origin_ns: u64,
    share: f64,
    operational: f64,
    random: u64,
}

impl Arrivals {
    /// The stream of arrivals that `seed` determines. `share` is this worker's part of the rate, up to 1.
    fn new(rate: Rate, share: f64, seed: u64) -> Self {
        let mut arrivals = Self { rate, origin_ns: 0, share, operational: 0.0, random: seed };
        // Each worker begins at a random phase, because equal spacing would otherwise synchronise the workers.
        arrivals.operational = match arrivals.rate.spacing {
            Spacing::Constant => arrivals.uniform() - 1.0,
            Spacing::Poisson => 0.0,
        };
        arrivals
    }

    /// The next number of `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014), scaled to (0, 1].
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((z >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

/// The due times of a worker's share of a [`Rate`], and the number of due events that have not begun. A second copy of
/// the stream, `forerunner`, runs ahead and counts due events, so a backlog takes no memory.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    due: Peekable<Arrivals>,
    forerunner: Peekable<Arrivals>,
    backlog: u64,
    /// Number of events that had become due when [`count_due`](Self::count_due) was last called.
    due_so_far: u64,
}

impl Schedule {
    pub(crate) fn new(rate: Rate, share: f64, seed: u64) -> Self {
        Self::beginning_at(0, rate, share, seed)
    }

    /// A schedule whose rate begins at `origin_ns`, in ns since the load began.
    pub(crate) fn beginning_at(origin_ns: u64, rate: Rate, share: f64, seed: u64) -> Self {
        let arrivals = Arrivals { origin_ns, ..Arrivals::new(rate, share, seed) };
        Self { due: arrivals.clone().peekable(), forerunner: arrivals.peekable(), backlog: 0, due_so_far: 0 }
    }

    /// Due time of the oldest event that has not begun.
    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        self.due.peek().copied()
    }

    /// Takes the oldest event that is due and has not begun, and returns when it was due.
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        self.count_due(now_ns);
        let due_ns = self.due.next_if(|&due_ns| due_ns <= now_ns)?;
        self.backlog -= 1;
        Some(due_ns)
    }

    /// Number of due events that have not begun.
    pub(crate) fn backlog(&mut self, now_ns: u64) -> u64 {
        self.count_due(now_ns);
        self.backlog
    }

    /// Number of events that had become due when the backlog was last counted.
    pub(crate) fn due_so_far(&self) -> u64 {
        self.due_so_far
    }

    /// Takes all events that are due at `at_ns`, and passes the age of each to `aged`.
    pub(crate) fn take_ages_ns(&mut self, at_ns: u64, mut aged: impl FnMut(u64)) {
        while let Some(due_ns) = self.due.next_if(|&due_ns| due_ns <= at_ns) {
            aged(at_ns - due_ns);
        }
    }

    fn count_due(&mut self, now_ns: u64) {
        while self.forerunner.next_if(|&due_ns| due_ns <= now_ns).is_some() {
            self.backlog += 1;
            self.due_so_far += 1;
        }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.operational += match self.rate.spacing {
            Spacing::Constant => 1.0,
            Spacing::Poisson => -self.uniform().ln(),
        };
        let seconds = self.rate.time_of(self.operational, self.share)?;
        Some(self.origin_ns.saturating_add((seconds * 1e9) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due_within(rate: Rate, share: f64, seconds: f64) -> Vec<f64> {
        Arrivals::new(rate, share, 7).map(|ns| ns as f64 / 1e9).take_while(|&at| at < seconds).collect()
    }

    #[test]
    fn a_steady_poisson_rate_has_its_mean_and_its_spread() {
        let due = due_within(Rate::steady(1000.0), 1.0, 100.0);
        // 100,000 arrivals are expected, with a standard deviation of 316.
        assert!((98_500..101_500).contains(&due.len()), "{}", due.len());
        let gaps: Vec<f64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // The standard deviation of exponential gaps equals their mean.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05);
    }

    #[test]
    fn constant_spacing_is_even_and_takes_fractions_of_an_event_a_second() {
        let rate = Rate { points: Rate::steady(0.25).points, spacing: Spacing::Constant };
        let due = due_within(rate, 1.0, 400.0);
        assert_eq!(due.len(), 100);
        assert!(due.windows(2).all(|pair| (pair[1] - pair[0] - 4.0).abs() < 1e-6));
    }

    #[test]
    fn shares_add_up_to_the_rate() {
        let whole: usize =
            [0.25, 0.75].iter().map(|&s| due_within(Rate::steady(2000.0), s, 50.0).len()).sum();
        assert!((98_000..102_000).contains(&whole), "{whole}");
    }

    #[test]
    fn a_ramp_brings_the_area_under_it() {
        let point = |at_seconds, per_second| RatePoint { at_seconds, per_second };
        let rate = Rate {
            points: vec![point(0.0, 0.0), point(10.0, 1000.0), point(10.0, 100.0), point(20.0, 100.0)],
            spacing: Spacing::Constant,
        };
        let due = due_within(rate, 1.0, 20.0);
        let before = |seconds: f64| due.iter().filter(|&&at| at < seconds).count();
        assert!((1249..=1251).contains(&before(5.0)), "a quarter of the triangle: {}", before(5.0));
        assert!((4999..=5001).contains(&before(10.0)), "the triangle: {}", before(10.0));
        assert!((5998..=6001).contains(&due.len()), "and the step after it: {}", due.len());
    }

    #[test]
    fn a_rate_of_nothing_never_comes_due() {
        assert_eq!(Arrivals::new(Rate::steady(0.0), 1.0, 1).next(), None);
    }

    #[test]
    fn the_backlog_is_what_is_due_and_not_taken() {
        let rate = Rate { spacing: Spacing::Constant, ..Rate::steady(10.0) };
        let mut schedule = Schedule::new(rate, 1.0, 1);
        assert_eq!(schedule.backlog(1_000_000_000), 10);
        let first = schedule.next_ns();
        assert_eq!(schedule.take_due(1_000_000_000), first);
        assert_eq!(schedule.backlog(1_000_000_000), 9);
        assert_eq!(std::iter::from_fn(|| schedule.take_due(2_000_000_000)).count(), 19);
        assert_eq!((schedule.backlog(2_000_000_000), schedule.due_so_far()), (0, 20));
    }
}
