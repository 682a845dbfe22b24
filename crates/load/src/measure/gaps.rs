//! Stretches of the measured time in which something was due but nothing finished.

use std::time::{Duration, Instant};

use crate::protocol::frame::Gaps;

/// Watches a count of finished work for times in which it does not grow. The length of such a gap is as exact as the
/// time between two calls of `look`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GapWatch {
    began: Instant,
    finished: u64,
    /// Time of the most recent call of `look` at which the count had changed or nothing was due.
    changed: Instant,
    /// Start and length of the longest gap.
    longest: (Instant, Duration),
    /// Time of the most recent call of `look`.
    looked: Instant,
}

impl GapWatch {
    /// Begins the measured time. `finished` is the count so far.
    pub(crate) fn begin(now: Instant, finished: u64) -> Self {
        Self { began: now, finished, changed: now, longest: (now, Duration::ZERO), looked: now }
    }

    /// Records `finished`, the count of finished work so far, and whether an event is in flight or due (`is_owed`).
    /// Without such an event, nothing can finish, so the time is not a gap.
    pub(crate) fn look(&mut self, now: Instant, finished: u64, is_owed: bool) {
        let gap = now.saturating_duration_since(self.changed);
        let has_changed = finished != self.finished;
        if gap > self.longest.1 && (is_owed || has_changed) {
            self.longest = (self.changed, gap);
        }
        if has_changed || !is_owed {
            (self.finished, self.changed) = (finished, now);
        }
        self.looked = now;
    }

    /// Returns the gaps up to the most recent call of `look`.
    pub(crate) fn gaps(&self) -> Gaps {
        Gaps {
            longest_seconds: self.longest.1.as_secs_f64(),
            longest_began_seconds: self.longest.0.saturating_duration_since(self.began).as_secs_f64(),
            last_seconds: self.looked.saturating_duration_since(self.changed).as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gap_and_the_one_at_the_end_are_known() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let mut watch = GapWatch::begin(began, 7);
        for (ms, finished) in [(100, 8), (200, 8), (1200, 8), (1300, 9), (1400, 10), (1900, 10)] {
            watch.look(at(ms), finished, true);
        }
        let gaps = watch.gaps();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(gaps.longest_seconds, 1.2) && close(gaps.longest_began_seconds, 0.1), "{gaps:?}");
        assert!(close(gaps.last_seconds, 0.5), "{gaps:?}");
        watch.look(at(3000), 10, true);
        assert!(close(watch.gaps().longest_seconds, 1.6), "a gap at the end counts too");
    }

    #[test]
    fn a_time_in_which_nothing_is_due_is_no_gap() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let mut watch = GapWatch::begin(began, 0);
        for (ms, finished, is_owed) in [
            (100, 0, false),
            (5000, 0, false),
            (5100, 0, true),
            (7000, 1, false),
            (9000, 1, false),
            (9100, 1, true),
        ] {
            watch.look(at(ms), finished, is_owed);
        }
        let gaps = watch.gaps();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        // The gap begins at the last look at which nothing was due.
        assert!(close(gaps.longest_seconds, 2.0) && close(gaps.longest_began_seconds, 5.0), "{gaps:?}");
        assert!(close(gaps.last_seconds, 0.1), "{gaps:?}");
    }
}
