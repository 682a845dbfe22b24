//! Pure functions that judge measurements: estimates, exact intervals, tests.

mod mean;
mod median;
mod paired;

pub use mean::geometric_mean;
pub use median::median;
pub use paired::{CONFIDENCE, Interval, PAIRS_MIN, PairedRatio, paired_ratio};
