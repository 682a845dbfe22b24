//! Effective sample size of a series.

/// Fewest batches from which the variance of the batch means is estimated. With fewer batches, the estimate is too
/// uncertain.
const BATCHES_MIN: usize = 8;

/// Number of independent samples whose mean has the same variance as the mean of the series: n/τ. τ is the largest
/// b·Var(means of batches of b)/Var(samples) over b = 1, 2, 4, … with at least 8 batches. For independent samples τ
/// is about 1; for correlated neighbours it is their correlation time.
///
/// (Flyvbjerg and Petersen, "Error estimates on averages of correlated data", Journal of Chemical Physics 91(1),
/// 1989; batch means: Alexopoulos and Seila, in Banks (ed.), "Handbook of Simulation", 1998, chapter 7.)
pub fn effective_size(series: &[f64]) -> f64 {
    let n = series.len() as f64;
    let Some(variance) = variance(series).filter(|variance| *variance > 0.0) else { return n };
    let sizes = std::iter::successors(Some(1), |size| Some(size * 2));
    let inflation = sizes.take_while(|size| series.len() / size >= BATCHES_MIN).filter_map(|size| {
        self::variance(&batch_means(series, size)).map(|of_means| size as f64 * of_means / variance)
    });
    n / inflation.fold(1.0, f64::max)
}

/// Means of consecutive batches. An incomplete batch at the end is dropped.
pub(crate) fn batch_means(series: &[f64], size: usize) -> Vec<f64> {
    series.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect()
}

/// Sample variance; `None` for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.len() > 1).then(|| values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, autoregression};

    /// Mean effective size over 200 series of 1024 samples.
    fn mean_size(coefficient: f64) -> f64 {
        let mut random = SplitMix64::new(1);
        (0..200).map(|_| effective_size(&autoregression(&mut random, 1024, coefficient))).sum::<f64>() / 200.0
    }

    #[test]
    fn an_autoregression_is_worth_what_theory_says() {
        // In theory, the size is n·(1 − φ)/(1 + φ): 341 and 54 (Priestley, "Spectral Analysis and Time Series",
        // section 5.3.2). τ is the largest of several noisy estimates, so it is too large on average. The estimated
        // size is therefore conservative.
        let half = mean_size(0.5);
        assert!((200.0..341.0).contains(&half), "{half}");
        let strong = mean_size(0.9);
        assert!((40.0..70.0).contains(&strong), "{strong}");
        assert!(mean_size(0.0) > 600.0);
    }

    #[test]
    fn constants_and_little_series_are_worth_their_length() {
        assert_close(effective_size(&[5.0; 100]), 100.0, 0.0);
        assert_close(effective_size(&[1.0, 2.0, 3.0]), 3.0, 0.0);
        assert_close(effective_size(&[]), 0.0, 0.0);
    }

    #[test]
    fn batches_by_hand() {
        assert_eq!(batch_means(&[1.0, 3.0, 5.0, 7.0, 100.0], 2), [2.0, 6.0]);
        assert_eq!(variance(&[1.0, 2.0, 3.0, 4.0]), Some(5.0 / 3.0));
        assert_eq!(variance(&[1.0]), None);
    }
}
