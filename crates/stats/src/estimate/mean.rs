//! The mean of ratios.

/// The geometric mean. It is the only mean of ratios that does not depend on which system is the base (Fleming and
/// Wallace, "How not to lie with statistics", CACM 29(3), 1986). `None` if there are no values, or if a value is
/// not positive.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    if ratios.is_empty() || ratios.iter().any(|ratio| *ratio <= 0.0) {
        return None;
    }
    Some((ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_and_half_make_the_same() {
        assert!((geometric_mean(&[2.0, 0.5]).unwrap() - 1.0).abs() < 1e-12);
        // scipy.stats.gmean([1, 2, 3, 4, 5, 6, 7])
        assert!(
            (geometric_mean(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap() - 3.380_015_159_141_296).abs()
                < 1e-12
        );
    }

    #[test]
    fn of_nothing_or_of_zero_there_is_none() {
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }
}
