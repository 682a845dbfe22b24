//! A drawing of the distribution of latencies.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dyno_load::Latency;

/// Number of buckets. They cover 1 µs to 100 s, and each is larger than the one before it by the same factor.
const BUCKETS: i32 = 1024;
const LOWEST_MS: f64 = 0.001;
const HIGHEST_MS: f64 = 100_000.0;
/// Number of stars for the fullest bucket.
const STARS: f64 = 40.0;

/// One line for each bucket with events.
pub(super) fn draw(latency: &Latency) -> String {
    let mut buckets: BTreeMap<i32, u64> = BTreeMap::new();
    for value in latency.histogram().iter_recorded() {
        *buckets.entry(bucket(value.value_iterated_to() as f64 / 1e3)).or_default() += value.count_at_value();
    }
    let fullest = buckets.values().max().copied().unwrap_or(1) as f64;
    let mut text = String::from(
        "Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count\n",
    );
    for (number, count) in buckets {
        let stars = "*".repeat((count as f64 * STARS / fullest).round() as usize);
        let _ = writeln!(text, "{:12.3} |{stars:<40} {count}", middle_ms(number));
    }
    text + " \n"
}

/// Difference between the logarithms of neighbouring buckets.
fn step() -> f64 {
    (HIGHEST_MS / LOWEST_MS).ln() / f64::from(BUCKETS - 1)
}

fn bucket(latency_ms: f64) -> i32 {
    let number = ((latency_ms / LOWEST_MS).ln() / step()).round() as i32;
    number.clamp(0, BUCKETS - 1)
}

fn middle_ms(bucket: i32) -> f64 {
    LOWEST_MS * (step() * f64::from(bucket)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values and stars as sysbench 1.0.20 printed them for these latencies.
    #[test]
    fn buckets_and_stars_are_sysbenchs() {
        let mut latency = Latency::default();
        for (latency_us, count) in [(218, 116), (222, 1873), (226, 684), (270, 20), (44_173, 1)] {
            (0..count).for_each(|_| latency.record_us(latency_us));
        }
        assert_eq!(
            draw(&latency),
            "Latency histogram (values are in milliseconds)\n\
             \x20      value  ------------- distribution ------------- count\n\
             \x20      0.218 |**                                       116\n\
             \x20      0.222 |**************************************** 1873\n\
             \x20      0.226 |***************                          684\n\
             \x20      0.270 |                                         20\n\
             \x20     44.173 |                                         1\n\
             \x20\n"
        );
    }

    #[test]
    fn what_is_out_of_range_is_in_the_outer_buckets() {
        assert_eq!((bucket(0.0), bucket(1e9)), (0, BUCKETS - 1));
        assert!((middle_ms(BUCKETS - 1) - HIGHEST_MS).abs() < 1e-6);
    }
}
