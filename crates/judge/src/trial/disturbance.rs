//! Disturbance: CPU time that neighbours used on the host during a trial.

use dyno_stats::median;
use dyno_store::TrialRecord;
use serde::Serialize;

/// The kernel reports the CPU times of a host in ticks of 10 ms (`proc_stat(5)`), so the difference of two readings
/// may be one tick too long.
const TICK_US: u64 = 10_000;
const STEAL_ERROR_US: u64 = TICK_US;
/// The time of other processes is computed by subtracting idle time and time waiting for storage. Each of the two
/// has an error of one tick.
const OTHERS_ERROR_US: u64 = 2 * TICK_US;

/// Limits on the CPU time that neighbours may use during a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DisturbanceLimits {
    /// Largest share of the host's CPU time that the hypervisor may give to other guests.
    pub steal_max: f64,
    /// Largest share of the host's CPU time that processes outside the run may use.
    pub others_max: f64,
}

impl Default for DisturbanceLimits {
    fn default() -> Self {
        Self { steal_max: 0.01, others_max: 0.05 }
    }
}

/// CPU time of neighbours on the host during a trial. For a trial in slices, it covers the slices of all systems
/// that took turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Disturbance {
    /// Share of all CPU time that the hypervisor gave to other guests.
    pub steal_share: f64,
    /// Share of all CPU time that processes outside the run used.
    pub others_share: f64,
    /// Number of the host's CPUs.
    pub cpus: u64,
    /// Whether a share exceeds its limit by more than the error of the kernel's ticks. If so, the trial does not
    /// count as a replicate, unless the run counts disturbed trials.
    pub is_disturbed: bool,
}

/// Rounds that neighbours disturbed. They do not count as replicates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DisturbedRounds {
    pub rounds: usize,
    /// Rounds that were measured, disturbed or not.
    pub of: usize,
    /// CPUs that processes outside the run used: median of the disturbed rounds.
    pub others_cpus: f64,
    /// CPUs that the hypervisor gave to other guests: median of the disturbed rounds.
    pub steal_cpus: f64,
    /// Number of the host's CPUs.
    pub cpus: u64,
}

/// Computes the disturbance of a trial; `None` if it was not measured.
pub fn disturbance(trial: &TrialRecord, limits: &DisturbanceLimits) -> Option<Disturbance> {
    let known = &trial.neighbours;
    let cpus = known.watched_cpus?;
    let all_us = known.watched_us?.saturating_mul(cpus);
    let share = |part_us: u64| part_us as f64 / all_us as f64;
    let (steal_share, others_share) = (share(known.neighbour_steal_us?), share(known.neighbour_cpu_us?));
    let is_above = |part_us: u64, error_us: u64, max: f64| share(part_us.saturating_sub(error_us)) > max;
    let is_disturbed = is_above(known.neighbour_steal_us?, STEAL_ERROR_US, limits.steal_max)
        || is_above(known.neighbour_cpu_us?, OTHERS_ERROR_US, limits.others_max);
    (all_us > 0).then_some(Disturbance { steal_share, others_share, cpus, is_disturbed })
}

impl DisturbedRounds {
    /// Summarises the disturbed rounds among `of` rounds; `None` if no round was disturbed.
    pub(crate) fn of(disturbed: &[Disturbance], of: usize) -> Option<Self> {
        let cpus = disturbed.iter().map(|round| round.cpus).max()?;
        let median_cpus = |share: fn(&Disturbance) -> f64| {
            median(&disturbed.iter().map(|round| share(round) * round.cpus as f64).collect::<Vec<_>>())
        };
        Some(Self {
            rounds: disturbed.len(),
            of,
            others_cpus: median_cpus(|round| round.others_share)?,
            steal_cpus: median_cpus(|round| round.steal_share)?,
            cpus,
        })
    }
}

#[cfg(test)]
mod tests {
    use dyno_store::Neighbours;

    use super::*;

    /// The disturbance of a trial of ten seconds on two CPUs.
    fn found(others_us: u64, steal_us: u64) -> Option<Disturbance> {
        let neighbours = Neighbours {
            watched_us: Some(10_000_000),
            watched_cpus: Some(2),
            neighbour_cpu_us: Some(others_us),
            neighbour_steal_us: Some(steal_us),
        };
        disturbance(&TrialRecord { neighbours, ..TrialRecord::default() }, &DisturbanceLimits::default())
    }

    #[test]
    fn shares_are_of_all_cpus() {
        let found = found(500_000, 100_000).unwrap();
        assert!((found.others_share - 0.025).abs() < 1e-12 && (found.steal_share - 0.005).abs() < 1e-12);
        assert!(!found.is_disturbed);
    }

    #[test]
    fn either_limit_is_enough() {
        let is_disturbed = |others, steal| found(others, steal).unwrap().is_disturbed;
        assert!(is_disturbed(1_100_000, 0) && is_disturbed(0, 300_000));
    }

    #[test]
    fn a_tick_of_a_short_trial_is_no_disturbance() {
        let is_disturbed = |others_us, steal_us| {
            let neighbours = Neighbours {
                watched_us: Some(190_000),
                watched_cpus: Some(2),
                neighbour_cpu_us: Some(others_us),
                neighbour_steal_us: Some(steal_us),
            };
            let trial = TrialRecord { neighbours, ..TrialRecord::default() };
            disturbance(&trial, &DisturbanceLimits::default()).unwrap().is_disturbed
        };
        assert!(!is_disturbed(20_000, 10_000));
        assert!(is_disturbed(0, 20_000) && is_disturbed(40_000, 0));
    }

    #[test]
    fn a_trial_during_which_nobody_watched_has_none() {
        assert_eq!(disturbance(&TrialRecord::default(), &DisturbanceLimits::default()), None);
        let neighbours = Neighbours {
            watched_us: Some(0),
            watched_cpus: Some(0),
            neighbour_cpu_us: Some(5),
            neighbour_steal_us: Some(5),
        };
        let trial = TrialRecord { neighbours, ..TrialRecord::default() };
        assert_eq!(disturbance(&trial, &DisturbanceLimits::default()), None);
    }

    #[test]
    fn disturbed_rounds_are_summed_up_in_cpus() {
        let rounds: Vec<Disturbance> =
            [9_000_000, 10_000_000, 2_000_000].iter().map(|us| found(*us, 1_000_000).unwrap()).collect();
        let sum = DisturbedRounds::of(&rounds, 4).unwrap();
        assert_eq!((sum.rounds, sum.of, sum.cpus), (3, 4, 2));
        assert!((sum.others_cpus - 0.9).abs() < 1e-12 && (sum.steal_cpus - 0.1).abs() < 1e-12);
        assert_eq!(DisturbedRounds::of(&[], 4), None);
    }
}
