//! Combines two estimates of one figure: an unbiased one with a large variance, and one with a small variance
//! that may be biased.

use crate::distribution::student::student_quantile;
use crate::estimate::interval::ROUNDS_MIN;
use crate::estimate::rounds::standard_error;

/// Probability of error on each side of the interval of the mean difference. A mean difference whose interval
/// excludes 0 counts as a bias.
const TAIL: f64 = 0.1;

/// The weight of the unbiased estimate, from 0 to 1. It follows from the differences between the two estimates in
/// each round.
///
/// It is 1 − r²/m², where m is the mean difference and r the half-width of its 80% interval by Student's t. It is 0 if
/// this expression is negative or if there are fewer than [`ROUNDS_MIN`] rounds. A bias that is consistent over the
/// rounds is therefore corrected. If the mean difference may be chance, the unbiased estimate gets little weight and
/// adds little variance. (The form is that of James and Stein, used on the difference of an unbiased and a biased
/// estimate by Green and Strawderman, "A James–Stein type estimator for combining unbiased and possibly biased
/// estimators", Journal of the American Statistical Association 86(416), 1991. They use one standard error in place of
/// r, and combine many figures at once.)
pub fn unbiased_share(differences: &[f64]) -> f64 {
    if differences.len() < ROUNDS_MIN {
        return 0.0;
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    match standard_error(differences) {
        Some(error) if mean != 0.0 => {
            let reach = error * student_quantile(TAIL, (differences.len() - 1) as f64);
            (1.0 - (reach / mean).powi(2)).max(0.0)
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, normal};

    #[test]
    fn an_offset_of_all_rounds_counts_and_that_of_one_does_not() {
        assert_close(unbiased_share(&[-0.015; 8]), 1.0, 1e-9);
        assert_close(unbiased_share(&[0.0, 0.0, 0.0, -0.3, 0.0, 0.0, 0.0, 0.0]), 0.0, 1e-9);
        assert_close(unbiased_share(&[0.0; 8]), 0.0, 0.0);
        assert_close(unbiased_share(&[-0.5; 5]), 0.0, 0.0);
        assert_close(unbiased_share(&[]), 0.0, 0.0);
    }

    /// Mean squared errors of the combination, of the sliced estimate and of the whole estimate, for ten rounds.
    /// The sliced estimate has a bias of `offset` standard errors of the difference.
    fn errors(offset: f64) -> [f64; 3] {
        let mut random = SplitMix64::new(3);
        let mut squares = [0.0; 3];
        for _ in 0..4000 {
            let sliced: Vec<f64> = (0..10).map(|_| normal(&mut random)).collect();
            let differences: Vec<f64> =
                (0..10).map(|_| offset / 10_f64.sqrt() + normal(&mut random)).collect();
            let share = unbiased_share(&differences);
            let mean = |values: &[f64]| values.iter().sum::<f64>() / 10.0;
            let truth = offset / 10_f64.sqrt();
            for (square, share) in squares.iter_mut().zip([share, 0.0, 1.0]) {
                *square += (mean(&sliced) + share * mean(&differences) - truth).powi(2) / 4000.0;
            }
        }
        squares
    }

    #[test]
    fn it_is_nearly_as_good_as_the_better_of_the_two() {
        let [combined, sliced, whole] = errors(0.0);
        assert!(sliced < whole && combined < 1.25 * sliced, "{combined} {sliced} {whole}");
        let [combined, sliced, whole] = errors(4.0);
        assert!(whole < sliced && combined < 1.4 * whole, "{combined} {sliced} {whole}");
    }
}
