//! The median.

/// The middle value, or the mean of the two middle values; `None` if there are no values. NaN, which a damaged
/// results file may contain, counts as the largest.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, *upper))
}

/// Like [`median`], but reorders the values in place.
pub(crate) fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    if values.is_empty() {
        return None;
    }
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| is_even);
    Some(f64::midpoint(lower.unwrap_or(*upper), *upper))
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    // A damaged results file may contain NaN.
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_stands_last() {
        assert_eq!(sorted(&[f64::NAN, 2.0, 1.0])[..2], [1.0, 2.0]);
    }

    #[test]
    fn of_none_one_two_and_three() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
    }

    #[test]
    fn in_place_it_is_the_same() {
        let mut random = crate::distribution::random::SplitMix64::new(1);
        for n in 0..30 {
            let values = crate::testing::rates(&mut random, n, 10.0, 0.1);
            assert_eq!(median_in_place(&mut values.clone()), median(&values));
        }
    }

    #[test]
    fn one_wild_value_does_not_move_it() {
        assert_eq!(median(&[10.0, 11.0, 12.0, 13.0, 1e9]), Some(12.0));
    }
}
