//! CPU time that the hypervisor takes because of a system's own work.
//!
//! Some hypervisors emulate a machine's disks and network on the machine's own cores. The CPU time for a system's I/O
//! then looks like the time of other guests. Unlike the time of other guests, this time recurs in every round of the
//! system, and is absent while other systems are measured in turns with it.

use std::collections::HashMap;

use dyno_stats::{ROUNDS_MIN, median};
use dyno_store::{Trial, TrialRecord};

use crate::trial::disturbance::{DisturbanceLimits, disturbance};

/// A system's steal comes from the system itself only if it is at least this share of the median in every round.
const LEAST_OF_MEDIAN: f64 = 0.5;
/// A round with more than this multiple of the median is disturbed, because the rest must come from neighbours.
const MOST_OF_MEDIAN: f64 = 1.5;

/// The steal that systems cause themselves.
#[derive(Debug)]
pub struct OwnSteal<'a>(HashMap<Key<'a>, f64>);

/// Step, number of clients, system.
type Key<'a> = (&'a str, u32, &'a str);

/// The steal of a system in a test, by round.
#[derive(Default)]
struct Course {
    rounds: Vec<u32>,
    shares: Vec<f64>,
    /// Number of rounds in which the steal exceeds the limit for neighbours.
    high: usize,
}

impl<'a> OwnSteal<'a> {
    /// Finds the systems that cause steal themselves. In each test, at least half of the systems must have too much
    /// steal either in all of their rounds or in none, which is unlikely if the steal is a neighbour's. At least one
    /// system without too much steal must have been measured in every round of the system that causes the steal.
    pub fn of(trials: impl IntoIterator<Item = &'a Trial>) -> Self {
        let mut tests: HashMap<(&str, u32), HashMap<&str, Course>> = HashMap::new();
        let of_steal = DisturbanceLimits { others_max: f64::INFINITY, ..DisturbanceLimits::default() };
        for record in trials.into_iter().map(|trial| &trial.record) {
            // In slices, steal is known for all systems together only.
            let is_whole = record.is_complete() && record.slices.is_empty();
            let Some(steal) = disturbance(record, &of_steal).filter(|_| is_whole) else { continue };
            let test = tests.entry((&record.step_id, record.clients)).or_default();
            let course = test.entry(&record.system_id).or_default();
            course.rounds.push(record.round);
            course.shares.push(steal.steal_share);
            course.high += usize::from(steal.is_disturbed);
        }
        let own = tests.iter().flat_map(|((step, clients), systems)| {
            let found = of_test(systems).into_iter();
            found.map(move |(system, share)| ((*step, *clients, system), share))
        });
        Self(own.collect())
    }

    /// The usual steal of a trial's system in its test, as a share of the host's CPU time. `None` if the system does
    /// not cause the steal itself.
    pub(crate) fn share(&self, trial: &TrialRecord) -> Option<f64> {
        self.0.get(&(trial.step_id.as_str(), trial.clients, trial.system_id.as_str())).copied()
    }

    /// The limits for neighbours during a trial. They allow what the system itself causes.
    pub fn limits(&self, trial: &TrialRecord) -> DisturbanceLimits {
        let usual = DisturbanceLimits::default();
        let own = self.share(trial).map_or(0.0, |share| MOST_OF_MEDIAN * share);
        DisturbanceLimits { steal_max: usual.steal_max.max(own), ..usual }
    }
}

impl Course {
    fn is_all_high(&self) -> bool {
        self.high == self.rounds.len()
    }

    /// The median share, if there are enough rounds and every round has enough steal.
    fn usual(&self) -> Option<f64> {
        let usual = median(&self.shares)?;
        let is_even = self.shares.iter().all(|share| *share >= LEAST_OF_MEDIAN * usual);
        (self.is_all_high() && is_even && self.rounds.len() >= ROUNDS_MIN).then_some(usual)
    }
}

/// The systems of a test that cause steal themselves, with their usual share.
fn of_test<'a>(systems: &HashMap<&'a str, Course>) -> Vec<(&'a str, f64)> {
    let quiet: Vec<&Course> = systems.values().filter(|course| course.high == 0).collect();
    let all_high = systems.values().filter(|course| course.is_all_high()).count();
    if 2 * (quiet.len() + all_high) < systems.len() {
        return Vec::new();
    }
    let has_witness =
        |own: &Course| quiet.iter().any(|other| own.rounds.iter().all(|round| other.rounds.contains(round)));
    let own = systems.iter().filter(|(_, course)| has_witness(course));
    own.filter_map(|(system, course)| Some((*system, course.usual()?))).collect()
}

#[cfg(test)]
mod tests;
