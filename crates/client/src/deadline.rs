//! The end of a wait, known when it begins.

use std::time::{Duration, Instant};

/// When a time limit passes, whatever arrives in between.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// The deadline of a limit that begins now; none if the limit is too long for the clock.
    pub fn after(limit: Duration) -> Option<Self> {
        Some(Self { at: Instant::now().checked_add(limit)?, limit })
    }

    /// When it passes.
    pub fn at(self) -> Instant {
        self.at
    }

    /// The limit that passes then.
    pub fn limit(self) -> Duration {
        self.limit
    }

    /// Time until it passes; none if it has.
    pub fn left(self) -> Option<Duration> {
        Some(self.at.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }
}
