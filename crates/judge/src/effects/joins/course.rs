//! Throughput of a system over the seconds of a test in which clients join.

use dyno_stats::median;

use super::{JoinedSecond, Pair};

/// The throughput of each second, as medians over rounds. The course ends at the first second that at most half of the
/// rounds reach.
pub(super) fn course(pairs: &[Pair<'_>]) -> Vec<JoinedSecond> {
    let at = |second: usize| {
        let rates: Vec<f64> = pairs.iter().filter_map(|pair| pair.rates.get(second).copied()).collect();
        let background = pairs.iter().filter_map(|pair| pair.background_rates.get(second).copied());
        Some(JoinedSecond {
            at_seconds: second as u32,
            rate: median(&rates).filter(|_| 2 * rates.len() > pairs.len())?,
            background_rate: median(&background.collect::<Vec<_>>()),
        })
    };
    (0..).map_while(at).collect()
}
