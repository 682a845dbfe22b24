//! Waits before events are rerun after ignored errors.

/// Wait before the first rerun.
const FIRST_US: u64 = 500;
/// The longest wait.
const LONGEST_US: u64 = 100_000;

/// The wait before rerun `attempt` (from 1). It doubles from 0.5 ms to 100 ms, so that transactions that
/// block each other separate, and a server that refuses everything is not flooded.
pub(super) fn backoff_us(attempt: u32) -> u64 {
    let doubled = FIRST_US.saturating_mul(1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX));
    doubled.min(LONGEST_US)
}

#[cfg(test)]
mod tests {
    use super::backoff_us;

    #[test]
    fn waits_double_up_to_a_tenth_of_a_second() {
        assert_eq!(
            [1, 2, 3, 8, 9, 64, 65].map(backoff_us),
            [500, 1000, 2000, 64_000, 100_000, 100_000, 100_000]
        );
    }
}
