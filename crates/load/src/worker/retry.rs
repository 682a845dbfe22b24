//! Waits before events are rerun after ignored errors, and before lost connections are made anew.

/// Wait before the first rerun.
const FIRST_US: u64 = 500;
/// The longest wait.
const LONGEST_US: u64 = 100_000;

/// The wait before rerun `attempt` (from 1). It doubles from 0.5 ms to 100 ms, so that transactions that
/// block each other separate, and a server that refuses everything is not flooded.
pub(super) fn backoff_us(attempt: u32) -> u64 {
    doubled_us(FIRST_US, attempt).min(LONGEST_US)
}

/// The range of the first wait for a new connection, for each connection of the load.
const DIAL_US: u64 = 100;
/// Bounds of the range of all later waits.
const DIAL_LONGEST_US: std::ops::RangeInclusive<u64> = 20_000..=1_000_000;

/// The range from which the wait before attempt `attempt` (from 1) to connect anew is drawn, evenly from 0.
///
/// It begins with 0.1 ms for each connection of the load and doubles, up to 20 ms, or to that first range if it is
/// longer, and at most to a second ("full jitter": M. Brooker, "Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015). Ten thousand connections that are lost at once therefore come back over a
/// second, and a few find their server within 20 ms.
pub(super) fn dial_range_us(attempt: u32, connections: u32) -> u64 {
    let first = DIAL_US * u64::from(connections.max(1));
    let longest = first.clamp(*DIAL_LONGEST_US.start(), *DIAL_LONGEST_US.end());
    doubled_us(first, attempt).min(longest)
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
        assert_eq!(of(1), [100, 200, 400, 20_000, 20_000]);
        assert_eq!(of(16), [1600, 3200, 6400, 20_000, 20_000]);
        assert_eq!(of(10_000), [1_000_000; 5]);
        assert_eq!(of(100_000), [1_000_000; 5]);
    }
}
