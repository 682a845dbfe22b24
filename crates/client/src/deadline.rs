//! A deadline, which is fixed when a wait begins.

use std::time::{Duration, Instant};

/// The time at which a limit passes, regardless of what arrives before.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// The deadline of a limit that begins now; `None` if the limit is too long for the clock.
    pub fn after(limit: Duration) -> Option<Self> {
        Some(Self { at: Instant::now().checked_add(limit)?, limit })
    }

    /// When it passes.
    pub fn at(self) -> Instant {
        self.at
    }

    /// The time limit with which it was made.
    pub fn limit(self) -> Duration {
        self.limit
    }

    /// Time until it passes; `None` if it has passed.
    pub fn left(self) -> Option<Duration> {
        Some(self.at.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }
}
