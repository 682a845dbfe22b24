//! When events begin, and whether more may begin.

pub(crate) mod arrivals;
pub(crate) mod control;
pub(crate) mod functions;

use std::time::Duration;

/// Converts seconds to a duration. A value that is too large gives a very long duration.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(u64::from(u32::MAX)))
}
