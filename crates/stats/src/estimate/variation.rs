//! Variation of throughput within a trial, reported beside its level.

use serde::Serialize;

use crate::estimate::median::median;
use crate::series::effective_size::variance;

/// A sample below this share of the median is a stall.
const STALL: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Variation {
    /// Standard deviation as a share of the mean.
    pub coefficient: f64,
    /// The lowest sample, as a share of the median.
    pub worst: f64,
    /// Number of samples below a tenth of the median.
    pub stalled: usize,
    /// Number of samples in the longest uninterrupted sequence of stalled samples.
    pub stalled_longest: usize,
}

/// The variation of a series of throughput; `None` with fewer than two samples, or if the median is 0.
pub fn variation(series: &[f64]) -> Option<Variation> {
    let median = median(series).filter(|median| *median > 0.0)?;
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let stalls = || series.chunk_by(|a, b| is_stall(*a, median) == is_stall(*b, median));
    let lengths = || stalls().filter(|run| is_stall(run[0], median)).map(<[f64]>::len);
    Some(Variation {
        coefficient: variance(series)?.sqrt() / mean,
        worst: series.iter().copied().fold(f64::INFINITY, f64::min) / median,
        stalled: lengths().sum(),
        stalled_longest: lengths().max().unwrap_or(0),
    })
}

fn is_stall(sample: f64, median: f64) -> bool {
    sample < STALL * median
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn figures_of_scipy() {
        // scipy.stats.variation([10, 12, 9, 11, 8], ddof=1)
        let found = variation(&[10.0, 12.0, 9.0, 11.0, 8.0]).unwrap();
        assert_close(found.coefficient, 0.158_113_883_008_418_98, 1e-12);
        assert_close(found.worst, 0.8, 1e-12);
        assert_eq!((found.stalled, found.stalled_longest), (0, 0));
    }

    #[test]
    fn stalls_are_counted_and_the_longest_measured() {
        let found = variation(&[10.0, 0.0, 10.0, 0.5, 0.0, 0.9, 10.0, 10.0, 10.0, 10.0, 1.0]).unwrap();
        assert_eq!((found.stalled, found.stalled_longest), (4, 3));
        // 1.0 is exactly a tenth of the median, so it is not a stall.
        assert_close(found.worst, 0.0, 0.0);
    }

    #[test]
    fn of_one_sample_or_of_nothing_there_is_none() {
        assert_eq!(variation(&[1.0]), None);
        assert_eq!(variation(&[0.0, 0.0, 0.0, 1.0]), None);
    }
}
