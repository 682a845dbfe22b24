//! Estimates how much time several instances of each system in one round would save.
//!
//! All instances of a round would wait at the same time until their servers are at rest. Starting servers and
//! reading tables keep the cores busy, so these two take longer with more servers. N instances of each system in
//! one round reduce the variance as much as N rounds do.

use std::collections::BTreeMap;

use dyno_stats::median;
use dyno_store::{InstanceRecord, Run};

use super::middle;

/// The numbers of instances per system and round that are considered.
const INSTANCES: [f64; 3] = [2.0, 3.0, 4.0];

/// How long the parts of a run's rounds take, in seconds.
pub(super) struct Found {
    starts: Vec<f64>,
    rests: Vec<f64>,
    warms: Vec<f64>,
    wholes: Vec<f64>,
}

pub(super) fn of_run(run: &Run) -> Option<Found> {
    let mut rounds: BTreeMap<u32, Vec<&InstanceRecord>> = BTreeMap::new();
    for instance in run.instances.iter().filter(|instance| instance.is_fresh) {
        rounds.entry(instance.round).or_default().push(instance);
    }
    let most = |of: fn(&InstanceRecord) -> f64| -> Vec<f64> {
        let most = |round: &Vec<&InstanceRecord>| round.iter().map(|it| of(it)).fold(0.0, f64::max);
        rounds.values().map(most).collect()
    };
    let begins: Vec<i64> =
        rounds.values().filter_map(|round| round.iter().map(|it| it.started_at_ms).min()).collect();
    let found = Found {
        starts: most(|it| it.start_seconds),
        rests: most(|it| it.settle_seconds),
        warms: rounds.values().map(|round| round.iter().map(|it| it.warm_seconds).sum()).collect(),
        wholes: begins.windows(2).map(|two| (two[1] - two[0]) as f64 / 1000.0).collect(),
    };
    (found.wholes.len() > 1).then_some(found)
}

impl Found {
    pub(super) fn row(&self, run: &str) -> [String; 9] {
        let of = |values: &[f64]| median(values).unwrap_or(0.0);
        let (whole, rest) = (of(&self.wholes), of(&self.rests));
        let measuring = whole - rest - of(&self.starts) - of(&self.warms);
        let [two, three, four] = INSTANCES.map(|instances| gain(whole, rest, instances));
        [
            run.to_owned(),
            (self.wholes.len() + 1).to_string(),
            middle(&self.starts),
            middle(&self.rests),
            middle(&self.warms),
            middle(&[measuring]),
            middle(&[two]),
            middle(&[three]),
            middle(&[four]),
        ]
    }
}

/// Returns the time of `instances` rounds with one instance, divided by the time of one round with `instances`
/// instances.
fn gain(whole: f64, rest: f64, instances: f64) -> f64 {
    instances * whole / (rest + instances * (whole - rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rest_is_shared() {
        assert!((gain(10.0, 5.0, 2.0) - 20.0 / 15.0).abs() < 1e-12);
        assert!((gain(10.0, 0.0, 4.0) - 1.0).abs() < 1e-12);
    }
}
