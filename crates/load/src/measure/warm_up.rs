//! Records the rate over time during a warm-up.

use std::time::{Duration, Instant};

use dyno_stats::level;

/// A warm-up is divided into parts of this length.
const PART: Duration = Duration::from_millis(250);
/// Smallest number of parts that can show a steady rate.
const PARTS_MIN: usize = 20;

/// The rate in each part of a warm-up. It is computed from a count of finished work.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// When the current part began, and the count of finished work at that time.
    part_began: (Instant, u64),
    ln_rates: Vec<f64>,
}

impl Course {
    /// Begins a warm-up. `finished` is the count of finished work so far.
    pub(crate) fn begin(now: Instant, finished: u64) -> Self {
        Self { part_began: (now, finished), ln_rates: Vec::new() }
    }

    /// Records `finished`, the count of finished work so far. If nothing finished in a part, its rate is computed from
    /// a count of one half, because a rate of 0 has no logarithm.
    pub(crate) fn look(&mut self, now: Instant, finished: u64) {
        let (began, before) = self.part_began;
        let length = now.saturating_duration_since(began);
        if length >= PART {
            let count = (finished.saturating_sub(before) as f64).max(0.5);
            self.ln_rates.push((count / length.as_secs_f64()).ln());
            self.part_began = (now, finished);
        }
    }

    /// Whether the rate was steady in the second half of the warm-up or in its last five seconds, whichever is longer.
    pub(crate) fn has_level(&self) -> bool {
        let recent = PARTS_MIN.max(self.ln_rates.len() / 2);
        let from = self.ln_rates.len().checked_sub(recent);
        from.and_then(|from| level(&self.ln_rates[from..])).is_some_and(|level| level.has_level())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a warm-up in which these numbers of events finish, one number for each part.
    fn course(counts: impl IntoIterator<Item = u64>) -> Course {
        let began = Instant::now();
        let (mut course, mut finished) = (Course::begin(began, 7), 7);
        for (number, count) in (1..).zip(counts) {
            finished += count;
            course.look(began + PART * (number - 1) + PART / 2, finished);
            course.look(began + PART * number, finished);
        }
        course
    }

    #[test]
    fn a_rate_that_rises_has_no_level_until_it_has_stopped_for_as_long_as_it_rose() {
        let rising = || (0..40).map(|part| 100 + 10 * part);
        let steady = |parts: u64| (0..parts).map(|part| 500 + part * 7 % 5);
        assert!(!course(rising()).has_level());
        assert!(!course(rising().chain(steady(4))).has_level());
        assert!(course(rising().chain(steady(40))).has_level());
    }

    #[test]
    fn a_few_parts_do_not_tell() {
        assert!(!course([500; 19]).has_level());
        assert!(course([500; 20]).has_level());
    }

    #[test]
    fn nothing_finished_is_a_level_too() {
        assert!(course([0; 20]).has_level());
    }
}
