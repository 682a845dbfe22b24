//! The capacity that a search found, with its interval and its probes.

use dyno_store::{CapacityRecord, FindRecord, ProbeRecord, TrialRecord};
use serde::Serialize;

/// To find out why higher rates violated the limits, only the probes near the capacity are examined: those with a rate
/// of at most this multiple of the interval's upper end.
const NEAR: f64 = 1.2;

/// The highest rate of events at which a system stays within a latency limit, from one trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capacity {
    /// Events per second: the median of the capacities that fit the probes.
    pub per_second: f64,
    /// Lower end of the 95% interval of the search.
    pub low_per_second: f64,
    /// Upper end of the 95% interval of the search.
    pub high_per_second: f64,
    /// Whether the interval became as narrow as the plan wants. If not, the search ran out of time.
    pub is_narrow: bool,
    /// Whether higher rates were not sustained although latencies stayed within the limit. If so, the limit had no
    /// effect, and the capacity is the highest rate that clients and server sustain.
    pub is_saturated: bool,
    /// The probes of the search, in order.
    pub probes: Vec<ProbeRecord>,
}

/// The capacity that a trial found. `None` if its step does not search for one, or if no rate stays within the
/// limit.
pub fn capacity(find: &FindRecord, trial: &TrialRecord) -> Option<Capacity> {
    let CapacityRecord { per_second, low_per_second, high_per_second } = trial.capacity?;
    Some(Capacity {
        per_second,
        low_per_second,
        high_per_second,
        is_narrow: high_per_second < low_per_second * (1.0 + find.within),
        is_saturated: is_saturated(find, &trial.probes, high_per_second),
        probes: trial.probes.clone(),
    })
}

/// Whether most of the failed probes near the capacity kept the latency limit, so that only the backlog made them
/// fail.
fn is_saturated(find: &FindRecord, probes: &[ProbeRecord], high_per_second: f64) -> bool {
    let is_near =
        |probe: &&ProbeRecord| !probe.keeps_limit && probe.rate_per_second <= high_per_second * NEAR;
    let is_in_time = |probe: &&ProbeRecord| probe.latency_ms.is_some_and(|ms| ms <= find.limit_ms);
    let near = probes.iter().filter(is_near);
    let in_time = near.clone().filter(is_in_time).count();
    2 * in_time > near.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    const FIND: FindRecord = FindRecord { percentile: 99, limit_ms: 5.0, within: 0.05 };

    fn probe(rate_per_second: f64, latency_ms: f64, is_sustained: bool) -> ProbeRecord {
        ProbeRecord {
            rate_per_second,
            seconds: 1.0,
            due: 1000,
            latency_ms: Some(latency_ms),
            backlog: 0,
            is_sustained,
            keeps_limit: is_sustained && latency_ms <= FIND.limit_ms,
        }
    }

    fn found(high_per_second: f64, probes: &[ProbeRecord]) -> Capacity {
        let mut trial = sample::trial("find", "db", 8, 0, 500.0);
        trial.capacity = Some(CapacityRecord { per_second: 1000.0, low_per_second: 980.0, high_per_second });
        trial.probes = probes.to_vec();
        capacity(&FIND, &trial).expect("a capacity")
    }

    #[test]
    fn an_interval_is_narrow_within_what_the_plan_asks() {
        assert!(found(1020.0, &[]).is_narrow);
        assert!(!found(1030.0, &[]).is_narrow);
    }

    #[test]
    fn a_limit_that_only_a_backlog_violates_is_no_limit() {
        let kept = probe(990.0, 2.0, true);
        assert!(!found(1020.0, &[kept, probe(1010.0, 5.5, true)]).is_saturated);
        assert!(found(1020.0, &[kept, probe(1010.0, 3.0, false)]).is_saturated);
        let far = probe(4000.0, 800.0, false);
        assert!(found(1020.0, &[far, kept, probe(1010.0, 3.0, false)]).is_saturated, "far above says little");
    }

    #[test]
    fn a_trial_without_a_search_has_no_capacity() {
        assert_eq!(capacity(&FIND, &sample::trial("point", "db", 8, 0, 500.0)), None);
    }
}
