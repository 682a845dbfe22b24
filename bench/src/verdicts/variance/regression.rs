//! Least-squares regression with an intercept.

/// How well covariates explain some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// The share of the variance that the covariates explain, adjusted for their number (adjusted R²). It is
    /// negative if they explain less than chance would.
    pub(super) explained: f64,
    /// The variance of the intercept (the estimated value where all covariates are 0), divided by the variance of the
    /// mean of the values. Below 1, the covariates make the estimate more precise.
    pub(super) variance: f64,
}

/// Fits values by covariates. Each value has one row of covariates. Returns `None` if there are too few values, if a
/// covariate does not vary, or if the covariates depend on each other.
///
/// The covariance matrix of the least-squares estimates is s² times the inverse of `XᵀX`, where X is the design matrix.
/// Its first diagonal element is the variance of the intercept (Cochran, "Analysis of covariance: its nature and uses",
/// Biometrics 13(3), 1957).
pub(super) fn fit(values: &[f64], covariates: &[Vec<f64>]) -> Option<Fit> {
    let (n, columns) = (values.len(), 1 + covariates.first()?.len());
    if n < columns + 3 {
        return None;
    }
    let design: Vec<Vec<f64>> =
        covariates.iter().map(|row| std::iter::once(1.0).chain(row.iter().copied()).collect()).collect();
    let product = |a: usize, b: usize| design.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let gram: Vec<Vec<f64>> = (0..columns).map(|a| (0..columns).map(|b| product(a, b)).collect()).collect();
    let targets: Vec<f64> =
        (0..columns).map(|a| design.iter().zip(values).map(|(row, value)| row[a] * value).sum()).collect();
    let unit: Vec<f64> = (0..columns).map(|a| if a == 0 { 1.0 } else { 0.0 }).collect();
    let (coefficients, of_intercept) = (solve(&gram, &targets)?, solve(&gram, &unit)?[0]);
    let fitted = |row: &Vec<f64>| row.iter().zip(&coefficients).map(|(x, b)| x * b).sum::<f64>();
    let rest: f64 = design.iter().zip(values).map(|(row, value)| (value - fitted(row)).powi(2)).sum();
    let mean = values.iter().sum::<f64>() / n as f64;
    let plain = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let rest = rest / (n - columns) as f64;
    (plain > 0.0)
        .then(|| Fit { explained: 1.0 - rest / plain, variance: rest * of_intercept / (plain / n as f64) })
}

/// Solves a symmetric system of equations by elimination with pivots. Returns `None` if the system is singular.
fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let n = right.len();
    let mut rows: Vec<Vec<f64>> =
        matrix.iter().zip(right).map(|(row, right)| row.iter().copied().chain([*right]).collect()).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let scale = matrix[column].iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        if rows[column][column].abs() <= 1e-12 * scale {
            return None;
        }
        let of_pivot = rows[column].clone();
        for row in (0..n).filter(|row| *row != column) {
            let factor = rows[row][column] / of_pivot[column];
            for (value, of_pivot) in rows[row].iter_mut().zip(&of_pivot) {
                *value -= factor * of_pivot;
            }
        }
    }
    Some((0..n).map(|row| rows[row][n] / rows[row][row]).collect())
}

#[cfg(test)]
mod tests {
    use dyno_stats::SplitMix64;

    use super::*;

    /// Returns a nearly normal random number around 0.
    fn noise(random: &mut SplitMix64) -> f64 {
        (0..12).map(|_| random.below(1_000_001) as f64 / 1e6).sum::<f64>() - 6.0
    }

    #[test]
    fn a_covariate_that_explains_noise_lowers_the_variance() {
        let mut random = SplitMix64::new(5);
        let covariates: Vec<Vec<f64>> = (0..200).map(|_| vec![noise(&mut random)]).collect();
        let values: Vec<f64> = covariates.iter().map(|row| 3.0 * row[0] + noise(&mut random)).collect();
        let found = fit(&values, &covariates).unwrap();
        // The variance is 10. The covariate explains 9 of it.
        assert!((found.explained - 0.9).abs() < 0.03 && (found.variance - 0.1).abs() < 0.03, "{found:?}");
        let others: Vec<Vec<f64>> = (0..200).map(|_| vec![noise(&mut random)]).collect();
        let found = fit(&values, &others).unwrap();
        assert!(found.explained.abs() < 0.05 && (found.variance - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn what_cannot_be_fitted_is_not() {
        assert_eq!(fit(&[], &[]), None);
        assert_eq!(fit(&[1.0, 2.0, 3.0, 5.0], &vec![vec![1.0]; 4]), None, "too few");
        assert_eq!(fit(&[1.0, 2.0, 3.0, 5.0, 4.0, 6.0], &vec![vec![1.0]; 6]), None, "it does not vary");
        let twice: Vec<Vec<f64>> = (0..8).map(|at| vec![f64::from(at), 2.0 * f64::from(at)]).collect();
        assert_eq!(fit(&[1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 2.0, 1.0], &twice), None);
    }
}
