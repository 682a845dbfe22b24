//! Variance components of rounds, and the best division of a time budget.

use serde::Serialize;

use crate::series::effective_size::variance;

/// Standard deviation of log ratios between instances. Its square is the variance between rounds minus the mean
/// squared standard error within rounds, and at least 0 (the estimator of the one-way layout; Searle, Casella and
/// `McCulloch`, "Variance Components", 1992, section 3.5). A round that is not divided into slices has no standard
/// error, so all its variation counts as between instances. `None` with fewer than two rounds.
fn between_instances(ln_ratios: &[f64], standard_errors: &[f64]) -> Option<f64> {
    let within: f64 = standard_errors.iter().map(|error| error * error).sum();
    let between = variance(ln_ratios)? - within / ln_ratios.len() as f64;
    Some(between.max(0.0).sqrt())
}

/// Standard deviations of log ratios. Several rounds may share one load of the data, so variation between loads is
/// separated from variation between instances on the same load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NestedComponents {
    /// `None` with fewer than two loads, or if every round has its own load, because loads and instances then
    /// cannot be separated.
    pub between_loads: Option<f64>,
    /// `None` with fewer than two rounds.
    pub between_instances: Option<f64>,
}

/// Computes the variance components of rounds that are grouped by their load, from the log ratios of each group and
/// the standard errors within rounds. The method is the analysis of variance of the nested layout with unequal
/// groups (Searle, Casella and `McCulloch`, "Variance Components", 1992, sections 3.6 and 3.7). Each component is
/// at least 0. If loads and instances cannot be separated, all variation counts as between instances.
pub fn nested_components(loads: &[Vec<f64>], standard_errors: &[f64]) -> NestedComponents {
    let loads: Vec<&Vec<f64>> = loads.iter().filter(|load| !load.is_empty()).collect();
    let rounds = loads.iter().map(|load| load.len()).sum::<usize>();
    let (groups, n) = (loads.len() as f64, rounds as f64);
    if loads.len() < 2 || rounds == loads.len() {
        let all: Vec<f64> = loads.into_iter().flatten().copied().collect();
        return NestedComponents {
            between_loads: None,
            between_instances: between_instances(&all, standard_errors),
        };
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let middle = loads.iter().flat_map(|load| load.iter()).sum::<f64>() / n;
    let (mut within, mut between) = (0.0, 0.0);
    for load in &loads {
        let own = mean(load);
        within += load.iter().map(|value| (value - own).powi(2)).sum::<f64>();
        between += load.len() as f64 * (own - middle).powi(2);
    }
    let (within, between) = (within / (n - groups), between / (groups - 1.0));
    let squares: f64 = loads.iter().map(|load| (load.len() as f64).powi(2)).sum();
    let of_a_load = (n - squares / n) / (groups - 1.0);
    let of_slices = standard_errors.iter().map(|error| error * error).sum::<f64>() / n;
    NestedComponents {
        between_loads: Some(((between - within) / of_a_load).max(0.0).sqrt()),
        between_instances: Some((within - of_slices).max(0.0).sqrt()),
    }
}

/// Variance components of the log ratio of two systems in a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Components {
    /// Standard deviation between instances.
    pub between_instances: f64,
    /// Standard deviation between neighbouring slices.
    pub between_slices: f64,
    /// Length of a slice, in seconds.
    pub slice_seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// Time in a round that is not measurement, such as the restart of all systems, in seconds.
    pub restart_seconds: f64,
    /// Trials of a round: one for every system in every test. One more second per trial makes the round `trials`
    /// seconds longer.
    pub trials: usize,
}

/// Limits of the division of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AllocationLimits {
    /// Smallest number of rounds, even if the budget allows fewer.
    pub rounds_min: usize,
    pub rounds_max: usize,
    /// Shortest measured time of a trial in a round, in seconds, even if the budget allows less.
    pub seconds_min: f64,
    /// Longest measured time of a trial in a round, in seconds.
    pub seconds_max: f64,
}

/// A division of a time budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Allocation {
    pub rounds: usize,
    /// Measured time of each trial in each round, in seconds.
    pub seconds_per_trial: f64,
}

/// Divides a budget so that the variance of the ratios is as small as possible.
///
/// The variance of a ratio after R rounds with trials of t seconds is (b² + w²·δ/t)/R. b and w are the standard
/// deviations between instances and between slices of length δ. The rounds cost R·(C + k·t), C for the restart and k
/// for the trials. The product of the variance and the cost is least at t = √(C/k · w²·δ/b²), whatever the budget
/// (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, section 7: the number of repetitions at
/// each level is √(ratio of the costs · ratio of the variances)).
///
/// The number of rounds is the largest that the budget allows. If it is below the minimum, the trials are
/// shortened. If time remains, the trials are lengthened. The fewest rounds with the shortest trials may exceed the
/// budget.
pub fn allocate(
    costs: &Costs,
    components: &Components,
    budget_seconds: f64,
    limits: &AllocationLimits,
) -> Allocation {
    let trials = costs.trials.max(1) as f64;
    let within_of_a_second = components.between_slices.powi(2) * components.slice_seconds;
    let variances = within_of_a_second / components.between_instances.powi(2);
    let best = (costs.restart_seconds / trials * variances).sqrt();
    // If slices do not vary, `best` is 0 and becomes the minimum. If instances do not vary, it is infinite and
    // becomes the maximum. If neither of the two varies, it is NaN.
    let best = if best.is_nan() { limits.seconds_min } else { best };
    let within_limits = |seconds: f64| seconds.max(limits.seconds_min).min(limits.seconds_max);
    let affordable = budget_seconds / (costs.restart_seconds + trials * within_limits(best));
    let rounds = (affordable as usize).clamp(limits.rounds_min, limits.rounds_max.max(limits.rounds_min));
    let seconds = (budget_seconds / rounds as f64 - costs.restart_seconds) / trials;
    Allocation { rounds, seconds_per_trial: within_limits(seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, normal};

    const LIMITS: AllocationLimits =
        AllocationLimits { rounds_min: 6, rounds_max: 50, seconds_min: 1.0, seconds_max: 60.0 };

    fn components(between_instances: f64, between_slices: f64) -> Components {
        Components { between_instances, between_slices, slice_seconds: 0.1 }
    }

    fn variance_of(found: Allocation, components: &Components) -> f64 {
        let within = components.between_slices.powi(2) * components.slice_seconds / found.seconds_per_trial;
        (components.between_instances.powi(2) + within) / found.rounds as f64
    }

    fn seconds_of(found: Allocation, costs: &Costs) -> f64 {
        found.rounds as f64 * (costs.restart_seconds + costs.trials as f64 * found.seconds_per_trial)
    }

    #[test]
    fn between_instances_is_what_slices_do_not_explain() {
        // The variance of 1, 2, 3 is 1.
        assert_close(between_instances(&[1.0, 2.0, 3.0], &[0.6, 0.6, 0.6]).unwrap(), 0.8, 1e-12);
        assert_close(between_instances(&[1.0, 2.0, 3.0], &[2.0; 3]).unwrap(), 0.0, 0.0);
        assert_close(between_instances(&[1.0, 2.0, 3.0], &[]).unwrap(), 1.0, 1e-12);
        assert_eq!(between_instances(&[1.0], &[0.1]), None);
    }

    #[test]
    fn the_estimate_finds_the_truth() {
        let mut random = SplitMix64::new(3);
        let (mut sum, experiments) = (0.0, 2000);
        for _ in 0..experiments {
            let rounds: Vec<f64> =
                (0..10).map(|_| 0.05 * normal(&mut random) + 0.03 * normal(&mut random)).collect();
            sum += between_instances(&rounds, &[0.03; 10]).unwrap().powi(2);
        }
        assert_close((sum / f64::from(experiments)).sqrt(), 0.05, 0.001);
    }

    #[test]
    fn loads_are_told_from_instances_if_rounds_share_them() {
        // Two loads have two rounds each. Their means are 1 and 4, and the rounds of a load differ by 2. The mean
        // squares are 2 within loads and 9 between loads, so the variance of a load is (9 − 2) / 2.
        let found = nested_components(&[vec![0.0, 2.0], vec![3.0, 5.0], vec![]], &[1.0; 4]);
        assert_close(found.between_loads.unwrap().powi(2), 3.5, 1e-12);
        assert_close(found.between_instances.unwrap().powi(2), 1.0, 1e-12);
        let alone = nested_components(&[vec![1.0, 2.0, 3.0]], &[0.6; 3]);
        assert_eq!((alone.between_loads, alone.between_instances.is_some()), (None, true));
        let each = nested_components(&[vec![1.0], vec![2.0], vec![3.0]], &[0.6; 3]);
        assert_eq!(each, alone);
        assert_eq!(nested_components(&[], &[]).between_instances, None);
    }

    #[test]
    fn simulated_loads_have_their_variance() {
        let mut random = SplitMix64::new(9);
        let (mut of_loads, mut of_instances, experiments) = (0.0, 0.0, 1000);
        for _ in 0..experiments {
            let load = |random: &mut SplitMix64, rounds: usize| {
                let load = 0.04 * normal(random);
                (0..rounds).map(|_| load + 0.03 * normal(random) + 0.02 * normal(random)).collect()
            };
            // The last load has fewer rounds, as if a time limit had ended the run.
            let loads: Vec<Vec<f64>> =
                [4, 4, 4, 1].into_iter().map(|rounds| load(&mut random, rounds)).collect();
            let found = nested_components(&loads, &[0.02; 13]);
            of_loads += found.between_loads.unwrap().powi(2);
            of_instances += found.between_instances.unwrap().powi(2);
        }
        let root = |sum: f64| (sum / f64::from(experiments)).sqrt();
        assert_close(root(of_loads), 0.04, 0.003);
        assert_close(root(of_instances), 0.03, 0.001);
    }

    #[test]
    fn the_formula_by_hand() {
        // The best length of a trial is √(60/20 · 0.2²·0.1/0.02²) = √30 s. A round takes 60 + 109.5 s, so 3600 s
        // allow 21 rounds.
        let costs = Costs { restart_seconds: 60.0, trials: 20 };
        let found = allocate(&costs, &components(0.02, 0.2), 3600.0, &LIMITS);
        assert_eq!(found.rounds, 21);
        assert_close(found.seconds_per_trial, (3600.0 / 21.0 - 60.0) / 20.0, 1e-12);
        assert_close(found.seconds_per_trial, 30_f64.sqrt(), 0.15);
    }

    #[test]
    fn no_other_division_of_the_budget_is_surer() {
        for (restart_seconds, trials, between, slices) in
            [(60.0, 20, 0.02, 0.2), (10.0, 8, 0.05, 0.05), (200.0, 4, 0.01, 0.3), (30.0, 40, 0.15, 0.05)]
        {
            let costs = Costs { restart_seconds, trials };
            let components = components(between, slices);
            let found = allocate(&costs, &components, 3600.0, &LIMITS);
            assert!(seconds_of(found, &costs) <= 3600.0 + 1e-6, "{found:?}");
            for rounds in LIMITS.rounds_min..=LIMITS.rounds_max {
                let seconds = (3600.0 / rounds as f64 - restart_seconds) / trials as f64;
                if (LIMITS.seconds_min..=LIMITS.seconds_max).contains(&seconds) {
                    let other = Allocation { rounds, seconds_per_trial: seconds };
                    let (own, others) = (variance_of(found, &components), variance_of(other, &components));
                    assert!(own <= others * 1.02, "{found:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn the_fewest_rounds_and_the_shortest_trials_come_first() {
        let costs = Costs { restart_seconds: 60.0, trials: 20 };
        let noisy = components(0.001, 0.5);
        let found = allocate(&costs, &noisy, 900.0, &LIMITS);
        assert_eq!(found.rounds, 6);
        assert_close(found.seconds_per_trial, 4.5, 1e-12);
        let scarce = Allocation { rounds: 6, seconds_per_trial: 1.0 };
        assert_eq!(allocate(&costs, &noisy, 100.0, &LIMITS), scarce);
    }

    #[test]
    fn what_does_not_vary_needs_no_time() {
        let costs = Costs { restart_seconds: 60.0, trials: 20 };
        let alike = allocate(&costs, &components(0.0, 0.1), 36_000.0, &LIMITS);
        assert_eq!(alike.seconds_per_trial.to_bits(), 60_f64.to_bits());
        let smooth = allocate(&costs, &components(0.05, 0.0), 3600.0, &LIMITS);
        assert_eq!(smooth.rounds, 45);
        let neither = allocate(&costs, &components(0.0, 0.0), 3600.0, &LIMITS);
        assert_eq!(neither.rounds, 45);
    }
}
