//! Waits before an event is run again after an ignored error, and before a lost connection is opened again.

/// Wait before the first repetition after a failure.
const FIRST_US: u64 = 500;
/// Longest wait before a repetition.
const LONGEST_US: u64 = 100_000;

/// The wait before repetition number `attempt` (from 1) after a failure. It doubles from 0.5 ms to 100 ms, so that
/// transactions that block each other separate, and a server that refuses everything is not flooded.
pub(super) fn backoff_us(attempt: u32) -> u64 {
    doubled_us(FIRST_US, attempt).min(LONGEST_US)
}

/// The first wait before connecting again is between 0 and this number of µs, multiplied by the number of connections
/// of the load.
const DIAL_US: u64 = 20;
/// The longest wait before connecting again is between 0 and `DIAL_LONGEST_US`, multiplied by the number of connections
/// of the load. The result of this multiplication is kept within the bounds.
const DIAL_LONGEST_US: u64 = 100;
const DIAL_LONGEST_BOUNDS_US: std::ops::RangeInclusive<u64> = 20_000..=1_000_000;

/// Returns the range of the wait before attempt `attempt` (from 1) to connect again. The wait is drawn evenly between 0
/// and this range.
///
/// The range begins with 20 µs for each connection of the load. It doubles up to 100 µs for each connection, but at
/// least to 20 ms and at most to a second ("full jitter": M. Brooker, "Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015). A few connections therefore find their server within 20 ms, and ten thousand
/// connections do not keep a core busy with attempts.
pub(super) fn dial_range_us(attempt: u32, connections: u32) -> u64 {
    let connections = u64::from(connections.max(1));
    let longest =
        (DIAL_LONGEST_US * connections).clamp(*DIAL_LONGEST_BOUNDS_US.start(), *DIAL_LONGEST_BOUNDS_US.end());
    doubled_us(DIAL_US * connections, attempt).min(longest)
}

fn doubled_us(first_us: u64, attempt: u32) -> u64 {
    first_us.saturating_mul(1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::{backoff_us, dial_range_us};

    #[test]
    fn waits_double_up_to_a_tenth_of_a_second() {
        assert_eq!(
            [1, 2, 3, 8, 9, 64, 65].map(backoff_us),
            [500, 1000, 2000, 64_000, 100_000, 100_000, 100_000]
        );
    }

    #[test]
    fn many_connections_come_back_over_a_longer_time_than_few() {
        let of = |connections| [1, 2, 3, 9, 80].map(|attempt| dial_range_us(attempt, connections));
        assert_eq!(of(1), [20, 40, 80, 5120, 20_000]);
        assert_eq!(of(16), [320, 640, 1280, 20_000, 20_000]);
        assert_eq!(of(10_000), [200_000, 400_000, 800_000, 1_000_000, 1_000_000]);
        assert_eq!(of(100_000), [1_000_000; 5]);
    }
}
