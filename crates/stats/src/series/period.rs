//! Period of a series.

/// Shortest period. In a series with one value per second, faster alternation is noise.
const PERIOD_MIN: usize = 4;

/// Smallest autocorrelation of a periodic series. A smaller one does not count, however significant it is.
const CORRELATION_MIN: f64 = 0.3;

/// Number of standard errors by which the autocorrelation must exceed 0. Dozens of lags are tested, so about one
/// series in a hundred without a period exceeds this by chance.
const STANDARD_ERRORS: f64 = 3.5;

/// The period of a series in samples, if the series shows at least two periods. It is the lag of the highest peak
/// of the autocorrelation, if this peak is significant (by Bartlett's standard error) and at least 0.3.
///
/// (Box, Jenkins and Reinsel, "Time Series Analysis", section 2.1; Bartlett, Journal of the Royal Statistical
/// Society Supplement 8, 1946. Checkpoints and compactions make a database's throughput a sawtooth.)
pub fn period(series: &[f64]) -> Option<usize> {
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let power: f64 = centred.iter().map(|value| value * value).sum();
    if power <= 0.0 {
        return None;
    }
    let last = series.len() / 2;
    let correlations: Vec<f64> = (0..=last + 1).map(|lag| autocorrelation(&centred, power, lag)).collect();
    let bound =
        |lag: usize| f64::max(CORRELATION_MIN, STANDARD_ERRORS / ((series.len() - lag) as f64).sqrt());
    // Drift and slow wander correlate at every short lag. A period's correlation turns negative and then returns,
    // so only lags after the first negative correlation count.
    let first = correlations.iter().position(|correlation| *correlation < 0.0)?;
    let is_peak = |lag: &usize| (lag - 1..=lag + 1).all(|near| correlations[near] <= correlations[*lag]);
    (PERIOD_MIN.max(first)..=last)
        .filter(is_peak)
        .filter(|lag| correlations[*lag] >= bound(*lag))
        .max_by(|a, b| correlations[*a].total_cmp(&correlations[*b]))
}

/// Autocorrelation of a centred series at a lag, per pair of samples. Long lags have fewer pairs, so a plain sum
/// would understate their correlation.
fn autocorrelation(centred: &[f64], power: f64, lag: usize) -> f64 {
    let pairs = centred.len().saturating_sub(lag);
    if pairs == 0 {
        return 0.0;
    }
    let product: f64 = centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum();
    product / power * centred.len() as f64 / pairs as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{autoregression, normal};

    fn sawtooth(random: &mut SplitMix64, n: usize, period: usize) -> Vec<f64> {
        (0..n).map(|at| 100.0 - 2.0 * (at % period) as f64 + normal(random)).collect()
    }

    #[test]
    fn the_period_of_a_sawtooth_is_found() {
        let mut random = SplitMix64::new(3);
        for length in [10, 20, 30] {
            let found = period(&sawtooth(&mut random, 120, length)).unwrap();
            assert!(found.is_multiple_of(length), "{found} for {length}");
        }
    }

    #[test]
    fn one_tooth_is_no_period() {
        let mut random = SplitMix64::new(3);
        assert_eq!(period(&sawtooth(&mut random, 60, 50)), None);
    }

    #[test]
    fn noise_and_drift_rarely_look_like_a_period() {
        let mut random = SplitMix64::new(4);
        let noise = (0..300).filter(|_| period(&autoregression(&mut random, 120, 0.3)).is_some()).count();
        assert!(noise <= 12, "{noise} of 300");
        let drift: Vec<f64> = (0..120).map(|at| f64::from(at) + normal(&mut random)).collect();
        assert_eq!(period(&drift), None);
        assert_eq!(period(&[7.0; 50]), None);
        assert_eq!(period(&[]), None);
    }
}
