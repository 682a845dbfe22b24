//! The median.

/// The middle value, or the mean of the two middle ones; none of no value.
///
/// # Panics
/// If a value is NaN, which no measurement is.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, *upper))
}

/// The values in ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("a measured value is a number"));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_none_one_two_and_three() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
    }

    #[test]
    fn one_wild_value_does_not_move_it() {
        assert_eq!(median(&[10.0, 11.0, 12.0, 13.0, 1e9]), Some(12.0));
    }

    #[test]
    #[should_panic(expected = "a measured value is a number")]
    fn refuses_what_is_no_number() {
        median(&[1.0, f64::NAN]);
    }
}
