//! Tests whether values differ from 0 consistently in one direction.

use crate::rounds::standard_error;
use crate::student::student_tail;

/// Fewer values are not tested.
const VALUES_MIN: usize = 3;
/// Largest error probability, by two-sided Student's t.
const P_MAX: f64 = 0.01;

/// Whether the mean of the values is further from 0 than `least` and significantly not 0 (p ≤ 0.01). False for fewer
/// than three values.
pub fn is_systematic(values: &[f64], least: f64) -> bool {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let is_sure = |error: f64| student_tail(mean.abs() / error, (values.len() - 1) as f64) <= P_MAX / 2.0;
    values.len() >= VALUES_MIN
        && mean.abs() > least
        && standard_error(values).is_some_and(|error| error == 0.0 || is_sure(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_itself_is_systematic_and_a_single_outlier_is_not() {
        assert!(is_systematic(&[-0.5, -0.6, -0.4, -0.55], 0.02));
        assert!(is_systematic(&[0.1, 0.1, 0.1], 0.02));
        assert!(!is_systematic(&[0.0, 0.01, -0.9, 0.02, 0.0, -0.01], 0.02), "one round stalled");
        assert!(!is_systematic(&[0.010, 0.011, 0.009, 0.010], 0.02), "too little to matter");
        assert!(!is_systematic(&[0.5, 0.5], 0.02) && !is_systematic(&[], 0.02));
    }
}
