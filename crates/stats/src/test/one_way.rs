//! Tests whether groups of values differ by more than the values within a group do.

use crate::distribution::random::SplitMix64;

/// Largest number of random orders that are tried.
const ORDERS_MAX: u32 = 9_999;
/// The test ends when this many random orders separate the groups at least as well as the order that was observed.
const ENOUGH: u32 = 20;
/// Any seed will do. A fixed one makes a report repeatable.
const SEED: u64 = 1;
/// Tolerance, as a share of the total sum of squares. Sums of the same values in another order differ by rounding.
const ROUNDING: f64 = 1e-9;

/// How much groups differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneWay {
    /// Probability that groups would differ at least as much if values were assigned to groups at random.
    pub p: f64,
    /// Standard deviation between groups, after the part that the variation within groups explains is subtracted; 0 if
    /// nothing remains.
    pub between: f64,
}

/// Compares the means of groups; `None` with fewer than two groups, or if no group has two values.
///
/// The test is a permutation test of the F statistic of a one-way analysis of variance (Manly,
/// "Randomization, Bootstrap and Monte Carlo Methods in Biology", 3rd edition, section 7.2, 2007). It does
/// not need a normal distribution, only values that are exchangeable if groups do not matter. It ends early
/// if the result is clear (Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78(2), 1991).
/// Otherwise p is (b + 1) / (m + 1) (Phipson and Smyth, 2010). The standard deviation is the ANOVA estimate
/// (Searle, Casella and `McCulloch`, *Variance Components*, section 3.6, 1992).
pub fn one_way(groups: &[Vec<f64>]) -> Option<OneWay> {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).filter(|size| *size > 0).collect();
    let mut values: Vec<f64> = groups.iter().flatten().copied().collect();
    let (groups, n) = (sizes.len() as f64, values.len() as f64);
    if sizes.len() < 2 || values.len() == sizes.len() {
        return None;
    }
    // Values are centred at their mean to reduce rounding errors.
    let mean = values.iter().sum::<f64>() / n;
    for value in &mut values {
        *value -= mean;
    }
    let total: f64 = values.iter().map(|value| value * value).sum();
    let between = squares_between(&values, &sizes);
    let within_mean = (total - between).max(0.0) / (n - groups);
    let effective_size =
        (n - sizes.iter().map(|size| (size * size) as f64).sum::<f64>() / n) / (groups - 1.0);
    let variance = (between / (groups - 1.0) - within_mean) / effective_size;
    Some(OneWay { p: p(&mut values, &sizes, between, total), between: variance.max(0.0).sqrt() })
}

/// The sum of squares between consecutive groups, of values with mean 0.
fn squares_between(values: &[f64], sizes: &[usize]) -> f64 {
    let mut rest = values;
    let mut squares = 0.0;
    for &size in sizes {
        let (group, others) = rest.split_at(size);
        squares += group.iter().sum::<f64>().powi(2) / size as f64;
        rest = others;
    }
    squares
}

/// The p-value. Sums of squares between groups are compared in place of F, because F grows with this sum if the total
/// is fixed.
fn p(values: &mut [f64], sizes: &[usize], between: f64, total: f64) -> f64 {
    let mut random = SplitMix64::new(SEED);
    let (mut orders, mut as_large) = (0, 0);
    while orders < ORDERS_MAX && as_large < ENOUGH {
        random.shuffle(values);
        orders += 1;
        as_large += u32::from(squares_between(values, sizes) >= between - ROUNDING * total);
    }
    if as_large == ENOUGH {
        return f64::from(as_large) / f64::from(orders);
    }
    f64::from(as_large + 1) / f64::from(orders + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::normal;

    /// Groups of normal values with standard deviation 1 around their means.
    fn groups(seed: u64, size: usize, means: &[f64]) -> Vec<Vec<f64>> {
        let mut random = SplitMix64::new(seed);
        means.iter().map(|mean| (0..size).map(|_| mean + normal(&mut random)).collect()).collect()
    }

    #[test]
    fn too_few_values_say_nothing() {
        assert_eq!(one_way(&[]), None);
        assert_eq!(one_way(&[vec![1.0, 2.0, 3.0]]), None);
        assert_eq!(one_way(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(one_way(&[vec![1.0, 2.0], Vec::new()]), None);
    }

    #[test]
    fn p_of_small_groups_is_that_of_all_orders() {
        // There are 20 ways to choose three of six values for the first group. In two of these ways, the groups are as
        // far apart as here.
        let found = one_way(&[vec![1.0, 2.0, 3.0], vec![7.0, 8.0, 9.0]]).unwrap();
        assert!((found.p - 0.1).abs() < 0.03, "{found:?}");
        // The means differ by 6, so the mean square between groups is 54. Within groups it is 1. The variance is
        // (54 − 1) / 3.
        assert!((found.between - (53.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn equal_groups_are_called_different_as_rarely_as_alpha_says() {
        let alarms =
            (0..1000).filter(|seed| one_way(&groups(*seed, 4, &[0.0; 3])).unwrap().p <= 0.05).count();
        assert!((25..=75).contains(&alarms), "{alarms} of 1000");
    }

    #[test]
    fn a_group_that_stands_apart_is_found_and_its_spread_estimated() {
        let found = one_way(&groups(5, 8, &[0.0, 0.0, 0.0, 5.0])).unwrap();
        assert!(found.p < 0.001, "{found:?}");
        // The standard deviation of these means is 2.5.
        assert!((1.5..4.0).contains(&found.between), "{found:?}");
    }

    #[test]
    fn equal_values_do_not_differ() {
        let found = one_way(&[vec![2.0, 2.0], vec![2.0, 2.0]]).unwrap();
        assert_eq!((found.p, found.between), (1.0, 0.0));
    }
}
