//! A system's rests while others have their slices. The system is frozen, if possible.

use std::time::{Duration, Instant};

use dyno_host::Freezer;

use crate::run::record::Work;

/// A system's rests between its slices.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// Freezes the system. `None` for a system that continues to work during its rests.
    freezer: Option<Freezer>,
    /// Total time that thawing has taken.
    thawing: Duration,
}

impl Rest {
    /// Returns rests during which the system is frozen. Each rest begins with [`Self::begin`].
    pub(super) fn frozen(work: Work) -> Self {
        let freezer = match work {
            Work::Server(pid) => Freezer::of(pid),
            Work::InClient | Work::Elsewhere => None,
        };
        Self { freezer, ..Self::default() }
    }

    /// Freezes the system. Without the right to freeze it, the system continues to work in this and all later
    /// rests.
    pub(super) fn begin(&mut self) {
        self.freezer.take_if(|freezer| !freezer.freeze());
    }

    /// Thaws the system.
    pub(super) fn end(&mut self) {
        let Some(freezer) = &mut self.freezer else { return };
        let began = Instant::now();
        freezer.thaw();
        self.thawing += began.elapsed();
    }

    /// Sets the total time that thawing has taken to 0.
    pub(super) fn count_anew(&mut self) {
        self.thawing = Duration::ZERO;
    }

    /// Returns the total time that thawing has taken, in µs. Returns `None` if the system is not frozen.
    pub(super) fn thaw_us(&self) -> Option<u64> {
        self.freezer.as_ref().map(|_| self.thawing.as_micros() as u64)
    }
}
