//! Dependence between neighbouring values of a series.

use crate::estimate::median::median;

/// Cost of one more change of level in the choice of a model, in multiples of ln n. It accounts for three estimates:
/// the position of the change, its level, and the choice of the best of many positions (Zhang and Siegmund, "A
/// modified Bayes information criterion with applications to the analysis of comparative genomic hybridization data",
/// Biometrics 63, 2007).
const COST_OF_A_CHANGE: f64 = 3.0;

/// Distances from a level are limited to this multiple of the scale of the differences between neighbours, so that
/// a few outliers do not hide the dependence of the other values.
const DISTANCE_MAX: f64 = 5.0;

/// The standard deviation of independent normal values, as a multiple of the median absolute difference between two
/// values.
const DEVIATION_OF_DIFFERENCES: f64 = 1.4826 / std::f64::consts::SQRT_2;

/// Largest coefficient that is estimated. With a larger one, a series cannot be distinguished from one that drifts.
const COEFFICIENT_MAX: f64 = 0.95;

/// The coefficient of a first-order autoregression around levels that change at some of the `splits`. The strongest
/// split comes first. The coefficient is 0 if the series is too short or constant, or if neighbours differ by more
/// than independent values would.
///
/// A change of level makes neighbours alike, and dependence looks like changes of level. The number of changes K is
/// therefore chosen together with the coefficient. The chosen model has the least n·ln(mean square of its
/// residuals) + 3·K·ln n. The coefficient is corrected for its bias in short series, (1 + 3ρ)/n for each level
/// (Marriott and Pope, "Bias in the estimation of autocorrelations", Biometrika 41, 1954).
pub(crate) fn autoregression(values: &[f64], splits: &[usize]) -> f64 {
    let differences: Vec<f64> = values.windows(2).map(|two| (two[1] - two[0]).abs()).collect();
    let scale = DEVIATION_OF_DIFFERENCES * median(&differences).unwrap_or_default();
    let reach = if scale > 0.0 { DISTANCE_MAX * scale } else { f64::INFINITY };
    let models = (0..=splits.len()).filter_map(|changes| {
        let mut bounds = [&[0], &splits[..changes], &[values.len()]].concat();
        bounds.sort_unstable();
        model(values, &bounds, reach)
    });
    let best = models.min_by(|a, b| a.cost.total_cmp(&b.cost));
    best.map_or(0.0, |best| best.coefficient.clamp(0.0, COEFFICIENT_MAX))
}

struct Model {
    coefficient: f64,
    cost: f64,
}

/// Fits the autoregression around the median of each part. Distances from the median are limited to `reach`.
fn model(values: &[f64], bounds: &[usize], reach: f64) -> Option<Model> {
    let parts = bounds.windows(2).map(|part| &values[part[0]..part[1]]);
    let rest: Vec<f64> = parts
        .flat_map(|part| {
            let level = median(part).unwrap_or_default();
            part.iter().map(move |value| (value - level).clamp(-reach, reach))
        })
        .collect();
    let n = rest.len() as f64;
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    if rest.len() < 3 || squares <= f64::EPSILON * n {
        return None;
    }
    let products: f64 = rest.windows(2).map(|two| two[0] * two[1]).sum();
    let coefficient = products / squares;
    let left: f64 = squares - coefficient * products;
    let levels = (bounds.len() - 1) as f64;
    Some(Model {
        coefficient: coefficient + levels * (1.0 + 3.0 * coefficient) / n,
        cost: n * (left / n).ln() + COST_OF_A_CHANGE * (levels - 1.0) * n.ln(),
    })
}

/// Number of neighbouring values that are permuted together as a block, which preserves the dependence within blocks:
/// (√6·ρ/(1 − ρ²))^⅔·n^⅓. For a first-order autoregression, circular blocks of this length estimate the variance of a
/// mean with the least mean square error (Politis and White, "Automatic block-length selection for the dependent
/// bootstrap", Econometric Reviews 23(1), 2004, with the correction of Patton, Politis and White, 28(4), 2009).
pub(crate) fn block_length(coefficient: f64, values: usize) -> usize {
    let ratio = 6.0_f64.sqrt() * coefficient.max(0.0) / (1.0 - coefficient * coefficient);
    let length = (ratio * ratio * values as f64).cbrt().round() as usize;
    length.clamp(1, values.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::assert_close;

    /// Mean of the estimates over 200 series of 60 values that step up by `step` standard deviations in the
    /// middle.
    fn mean_estimate(coefficient: f64, step: f64) -> f64 {
        let mut random = SplitMix64::new(1);
        let estimate = |_| {
            let mut values = crate::testing::autoregression(&mut random, 60, coefficient);
            let deviation = 1.0 / (1.0 - coefficient * coefficient).sqrt();
            values[30..].iter_mut().for_each(|value| *value += step * deviation);
            autoregression(&values, &[30, 15, 45])
        };
        (0..200).map(estimate).sum::<f64>() / 200.0
    }

    #[test]
    fn the_coefficient_is_that_of_the_series_whether_its_level_changes_or_not() {
        for (coefficient, tolerance) in [(0.0, 0.1), (0.3, 0.07), (0.5, 0.07), (0.7, 0.1)] {
            assert_close(mean_estimate(coefficient, 0.0), coefficient, tolerance);
        }
        assert!(mean_estimate(0.0, 5.0) < 0.15, "a change of level is no dependence");
        assert_close(mean_estimate(0.5, 6.0), 0.5, 0.1);
    }

    #[test]
    fn outliers_hide_no_dependence() {
        let mut random = SplitMix64::new(2);
        let mut values = crate::testing::autoregression(&mut random, 300, 0.7);
        values.iter_mut().step_by(25).for_each(|value| *value -= 30.0);
        assert!(autoregression(&values, &[]) > 0.35, "{}", autoregression(&values, &[]));
    }

    #[test]
    fn blocks_are_as_long_as_the_rule_says() {
        // (√6·0.5/0.75)^⅔·60^⅓ is 5.43. For a coefficient of 0.7 and 365 values it is 16.0.
        assert_eq!([block_length(0.5, 60), block_length(0.7, 365)], [5, 16]);
        assert_eq!([block_length(0.0, 60), block_length(-0.5, 60), block_length(0.95, 4)], [1, 1, 4]);
    }

    #[test]
    fn short_and_constant_series_have_no_dependence() {
        for values in [&[][..], &[1.0], &[1.0, 2.0], &[3.0; 40]] {
            assert_close(autoregression(values, &[]), 0.0, 0.0);
        }
    }
}
