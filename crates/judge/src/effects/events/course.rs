//! The figures of each second of a system in a step with events.

use dyno_stats::median;
use dyno_store::{SecondRate, Trial};

use super::EventSecond;
use crate::trial::evidence::Evidence;

/// The figures of each second of a system's trials, as medians over rounds. The course ends at the first second that at
/// most half of the rounds reach.
pub(super) fn course(evidence: &Evidence<'_>, step: &str, clients: u32, system: &str) -> Vec<EventSecond> {
    let trials = evidence.trials.completed(step, clients, system);
    let of = |trial: &&Trial| Some(evidence.checks.get(&trial.id)?.course.as_slice());
    let courses: Vec<&[SecondRate]> = trials.iter().filter_map(of).collect();
    let at = |second: usize| {
        let found: Vec<&SecondRate> = courses.iter().filter_map(|course| course.get(second)).collect();
        let values = |of: &dyn Fn(&SecondRate) -> Option<f64>| {
            median(&found.iter().filter_map(|second| of(second)).collect::<Vec<_>>())
        };
        let has_most = 2 * found.len() > courses.len();
        let with_p99 = found.iter().filter(|second| second.p99_us.is_some()).count();
        Some(EventSecond {
            at_seconds: second as u32,
            rate: values(&|second| Some(second.operations as f64 / second.seconds)).filter(|_| has_most)?,
            p99_ms: values(&|second| second.p99_us.map(|us| us / 1e3)).filter(|_| 2 * with_p99 > found.len()),
            failed: values(&|second| Some(second.failed as f64))?,
        })
    };
    (0..).map_while(at).collect()
}
