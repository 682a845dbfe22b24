//! Stalls: stretches of a trial in which nothing finished, too long to be chance.

use dyno_store::TrialRecord;
use serde::Serialize;

/// The shortest stall. Gaps up to here are ordinary: a checkpoint, a slow flush, a scheduler's turn.
const STALL_SECONDS_MIN: f64 = 1.0;

/// How many gaps as long as a stall a trial without stalls may have on average.
const CHANCE_MAX: f64 = 0.001;

/// A stretch of a trial in which nothing finished.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stall {
    pub seconds: f64,
    /// Its begin, in seconds since measuring began; none if it is not known, as of slices.
    pub began_seconds: Option<f64>,
}

/// The shortest gap that is a stall, in a trial of so many events and seconds.
///
/// If events ended independently of each other at a constant rate λ, gaps would have an exponential distribution, and
/// n·exp(−λL) of n gaps would be longer than L. Events of several clients end more evenly than that.
fn limit_seconds(events: u64, seconds: f64) -> f64 {
    if events == 0 {
        return STALL_SECONDS_MIN;
    }
    let events = events as f64;
    (seconds / events * (events / CHANCE_MAX).ln()).max(STALL_SECONDS_MIN)
}

fn limit_of(trial: &TrialRecord) -> Option<f64> {
    let measured = trial.measured.as_ref()?;
    let finished = measured.counts.events.max(measured.counts.operations);
    Some(limit_seconds(finished, measured.seconds))
}

/// The longest stall of a trial.
pub(crate) fn longest(trial: &TrialRecord) -> Option<Stall> {
    let (gaps, limit) = (trial.gaps?, limit_of(trial)?);
    (gaps.longest_seconds >= limit)
        .then_some(Stall { seconds: gaps.longest_seconds, began_seconds: gaps.longest_began_seconds })
}

/// Length of the stall in which a trial ended.
pub fn stalled_at_end_seconds(trial: &TrialRecord) -> Option<f64> {
    let (gaps, limit) = (trial.gaps?, limit_of(trial)?);
    (gaps.last_seconds >= limit).then_some(gaps.last_seconds)
}

#[cfg(test)]
mod tests {
    use dyno_store::Gaps;

    use super::*;
    use crate::sample;

    #[test]
    fn the_limit_is_a_second_where_events_are_many_and_longer_where_they_are_rare() {
        assert_eq!(limit_seconds(1_000_000, 60.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(limit_seconds(0, 5.0).to_bits(), 1.0_f64.to_bits());
        let rare = limit_seconds(11, 5.0);
        assert!((rare - 5.0 / 11.0 * 11_000_f64.ln()).abs() < 1e-9 && rare > 4.0, "{rare}");
    }

    #[test]
    fn a_stall_at_the_end_is_told_apart() {
        let mut trial = sample::trial("reads", "db", 4, 0, 1000.0);
        assert_eq!((longest(&trial), stalled_at_end_seconds(&trial)), (None, None));
        trial.gaps = Some(Gaps { longest_seconds: 2.5, longest_began_seconds: Some(3.0), last_seconds: 0.1 });
        assert_eq!(longest(&trial), Some(Stall { seconds: 2.5, began_seconds: Some(3.0) }));
        assert_eq!(stalled_at_end_seconds(&trial), None);
        trial.gaps = Some(Gaps { longest_seconds: 2.5, longest_began_seconds: Some(7.5), last_seconds: 2.5 });
        assert_eq!(stalled_at_end_seconds(&trial), Some(2.5));
    }
}
