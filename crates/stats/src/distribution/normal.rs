//! Normal approximation of discrete distributions.

/// P(N ≤ n) for an N that takes integer values and has the given mean and standard deviation. Uses the continuity
/// correction.
pub(crate) fn normal_at_most(n: usize, mean: f64, deviation: f64) -> f64 {
    0.5 * libm::erfc((mean - n as f64 - 0.5) / deviation / std::f64::consts::SQRT_2)
}
