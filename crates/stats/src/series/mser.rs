//! End of a start-up transient.

use crate::series::effective_size::batch_means;

/// Samples in a batch.
const BATCH: usize = 5;

/// Series with fewer batches are not tested.
const BATCHES_MIN: usize = 4;

/// Result of MSER-5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// Samples to drop at the start; 0 if there is no transient.
    After(usize),
    /// Samples to drop at the start, more than half. The series is then too short to show a steady state.
    PastHalf(usize),
}

/// Applies the marginal standard error rule to the means of batches of five. Of m batch means Zᵢ, the first d are
/// dropped. d minimises Σ (Zᵢ − Z̄)² / (m − d)² over i > d, which is proportional to the squared width of the
/// mean's confidence interval. If d is more than half of m, the series is too short. `None` with fewer than 20
/// samples.
///
/// (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997;
/// batches of five, and the limit of half of the batches: White, Cobb and Spratt, Winter Simulation Conference 2000.)
pub fn mser5(series: &[f64]) -> Option<Truncation> {
    let means = batch_means(series, BATCH);
    if means.len() < BATCHES_MIN {
        return None;
    }
    // The statistic of only a few batches may be small by chance, so at least five batches are kept.
    let deepest = means.len().saturating_sub(BATCH).max(means.len() / 2);
    let (best, _) =
        (0..=deepest).map(|d| (d, marginal_error(&means[d..]))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    let cut = best * BATCH;
    Some(if best > means.len() / 2 { Truncation::PastHalf(cut) } else { Truncation::After(cut) })
}

fn marginal_error(rest: &[f64]) -> f64 {
    let n = rest.len() as f64;
    let mean = rest.iter().sum::<f64>() / n;
    rest.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, autoregression, normal};

    #[test]
    fn the_statistic_by_hand() {
        // The mean is 2, and the squared distances 1 + 0 + 1 are divided by 3².
        assert_close(marginal_error(&[1.0, 2.0, 3.0]), 2.0 / 9.0, 1e-12);
    }

    #[test]
    fn a_transient_is_cut_where_it_ends() {
        let mut random = SplitMix64::new(1);
        let series: Vec<f64> =
            (0..200).map(|at| if at < 40 { 50.0 } else { 100.0 } + normal(&mut random)).collect();
        assert_eq!(mser5(&series), Some(Truncation::After(40)));
    }

    #[test]
    fn what_is_steady_keeps_most_of_itself() {
        let mut random = SplitMix64::new(2);
        let kept = (0..200).filter(|_| {
            let series = autoregression(&mut random, 300, 0.5);
            matches!(mser5(&series), Some(Truncation::After(samples)) if samples <= 75)
        });
        assert!(kept.count() > 150);
    }

    #[test]
    fn what_settles_only_at_the_end_never_was_steady() {
        let series: Vec<f64> = (0..100).map(|at| f64::from(at.min(80))).collect();
        assert!(matches!(mser5(&series), Some(Truncation::PastHalf(_))));
    }

    #[test]
    fn twenty_samples_are_the_fewest() {
        assert_eq!(mser5(&[1.0; 19]), None);
        assert_eq!(mser5(&[1.0; 20]), Some(Truncation::After(0)));
    }
}
