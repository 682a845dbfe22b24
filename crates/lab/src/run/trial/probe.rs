//! A probe of a search for a rate: how long it takes, and whether it stays within the limit.

use dyno_load::{Slice, SliceOrder};
use dyno_store::{FindRecord, ProbeRecord};

/// If a probe's percentile is exactly at the limit, at least this many of its events are expected to exceed the
/// limit. With fewer events, chance would decide.
const EVENTS_BEYOND_MIN: f64 = 10.0;
/// The range of a probe's measured time, in seconds. In a shorter probe, a single pause of the host would have too
/// much weight.
const SECONDS_MIN: f64 = 1.0;
const SECONDS_MAX: f64 = 10.0;
/// The shortest length of a probe, as a multiple of the latency limit. It is long enough for latencies to show
/// whether a rate is sustained.
const LIMITS: f64 = 20.0;
/// The lead of a probe before measuring, as a share of its measured time. During the lead, queues grow to their
/// final length.
const LEAD: f64 = 0.25;
/// The largest backlog of a sustained rate, as a multiple of the number of events that become due within the latency
/// limit. If events begin within the limit, no more events than this number wait on average (Little's law). The
/// multiple allows for chance.
const BACKLOG: f64 = 3.0;

/// Returns the order that makes the load process run a probe at a rate.
pub(super) fn order(find: &FindRecord, rate_per_second: f64) -> SliceOrder {
    let enough_seconds = EVENTS_BEYOND_MIN / find.share_beyond() / rate_per_second;
    let seconds = enough_seconds.max(LIMITS * find.limit_ms / 1000.0).clamp(SECONDS_MIN, SECONDS_MAX);
    SliceOrder { lead_seconds: LEAD * seconds, seconds, bin_seconds: None, rate: Some(rate_per_second) }
}

/// Judges whether a probe stayed within the limit.
pub(super) fn judge(find: &FindRecord, rate_per_second: f64, clients: u32, slice: &Slice) -> ProbeRecord {
    let mut latency = slice.latency.clone();
    latency.merge(&slice.waiting);
    let latency_ms = latency.quantile_us(1.0 - find.share_beyond()).map(|us| us / 1000.0);
    let is_sustained = slice.backlog as f64 <= backlog_max(find, rate_per_second, clients, slice.seconds);
    ProbeRecord {
        rate_per_second,
        seconds: slice.seconds,
        due: latency.histogram().len(),
        latency_ms,
        backlog: slice.backlog,
        is_sustained,
        keeps_limit: is_sustained && latency_ms.is_none_or(|latency_ms| latency_ms <= find.limit_ms),
    }
}

/// Returns the largest backlog of a sustained rate, in events: one event of each client, and a number of waiting
/// events. If the latency limit is long, this number is limited to the share `within` of the events that are due in the
/// probe. The search ends with an interval of the relative width `within`, so it does not have to tell apart rates
/// whose difference is smaller.
fn backlog_max(find: &FindRecord, rate_per_second: f64, clients: u32, seconds: f64) -> f64 {
    let waiting = BACKLOG * rate_per_second * find.limit_ms / 1000.0;
    f64::from(clients) + waiting.min(find.within * rate_per_second * seconds)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dyno_load::{Counts, Latency, Usage};

    use super::*;

    const FIND: FindRecord = FindRecord { percentile: 99, limit_ms: 5.0, within: 0.05 };

    fn of(latencies_us: &[(u64, usize)]) -> Latency {
        let mut latency = Latency::default();
        for &(us, times) in latencies_us {
            (0..times).for_each(|_| latency.record_us(us));
        }
        latency
    }

    fn slice(finished: &[(u64, usize)], waiting: &[(u64, usize)], backlog: u64) -> Slice {
        Slice {
            began_us: 0,
            seconds: 1.0,
            counts: Counts::default(),
            event_shares: 0.0,
            counts_whole: Counts::default(),
            error_codes: BTreeMap::new(),
            latency: of(finished),
            waiting: of(waiting),
            backlog,
            usage: Usage::default(),
            bins: Vec::new(),
        }
    }

    #[test]
    fn a_probe_takes_a_second_or_as_long_as_its_percentile_and_its_limit_need() {
        let seconds = |find: FindRecord, rate| order(&find, rate).seconds;
        assert!((seconds(FIND, 20_000.0) - 1.0).abs() < 1e-9);
        assert!((seconds(FIND, 500.0) - 2.0).abs() < 1e-9, "1,000 events");
        assert!((seconds(FIND, 1.0) - 10.0).abs() < 1e-9);
        assert!((seconds(FindRecord { percentile: 95, ..FIND }, 100.0) - 2.0).abs() < 1e-9, "200 events");
        assert!((seconds(FindRecord { limit_ms: 200.0, ..FIND }, 20_000.0) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_percentile_at_the_limit_keeps_it() {
        let judged = |finished: &[(u64, usize)]| judge(&FIND, 1000.0, 8, &slice(finished, &[], 0));
        let within = judged(&[(1000, 990), (9000, 10)]);
        assert!(within.keeps_limit && within.latency_ms.is_some_and(|ms| ms < 1.1), "{within:?}");
        let beyond = judged(&[(1000, 989), (9000, 11)]);
        assert!(!beyond.keeps_limit && beyond.is_sustained && beyond.latency_ms.is_some_and(|ms| ms > 8.9));
        assert!(judged(&[]).keeps_limit, "of nothing due, nothing is late");
    }

    #[test]
    fn an_event_that_never_began_counts_with_its_age() {
        let judged = judge(&FIND, 1000.0, 8, &slice(&[(1000, 980)], &[(7000, 20)], 20));
        assert_eq!(
            (judged.due, judged.backlog, judged.is_sustained, judged.keeps_limit),
            (1000, 20, true, false)
        );
    }

    #[test]
    fn a_backlog_that_grows_violates_the_limit_whatever_the_percentile() {
        let judged = |backlog| judge(&FIND, 1000.0, 8, &slice(&[(1000, 1000)], &[], backlog));
        // 8 clients, and three times the 5 events that become due in 5 ms, are 23 events.
        assert!(judged(23).keeps_limit);
        assert!(!judged(24).keeps_limit && !judged(24).is_sustained);
        let long = FindRecord { limit_ms: 2000.0, ..FIND };
        let judged = judge(&long, 1000.0, 8, &slice(&[(1000, 1000)], &[], 59));
        assert!(!judged.is_sustained, "5% of 1,000 events and 8 clients are 58: {judged:?}");
    }
}
