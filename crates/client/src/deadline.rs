//! A deadline, which is fixed when a wait begins.

use std::time::{Duration, Instant};

/// The point in time at which a time limit ends. Data that arrives earlier does not move it.
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

    /// The point in time itself.
    pub fn at(self) -> Instant {
        self.at
    }

    /// The time limit from which the deadline was made.
    pub fn limit(self) -> Duration {
        self.limit
    }

    /// Time until the deadline; `None` if it has passed.
    pub fn left(self) -> Option<Duration> {
        Some(self.at.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }
}
