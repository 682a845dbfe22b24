//! The order of trials: systems take turns, so that whatever drifts over time meets all of them alike.

use crate::plan::Plan;
use crate::random::SplitMix64;

/// One pass of one system through one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Position of the step in the plan.
    pub step: usize,
    /// Connections.
    pub clients: u32,
    /// Which pass, from 0. The systems' trials of one number are paired.
    pub number: u32,
    /// Position of the system in the plan.
    pub system: usize,
    /// Seed of the trial's load: the same for every system of a pair, so that both are asked the same.
    pub seed: u64,
}

/// Every trial of a plan in the order in which to run them.
///
/// Step after step and, in a step, one number of clients after the other. There the systems begin in a random
/// order, which each further pass turns round (A B C, C B A, A B C, …): with a steady drift, every system's
/// average place in time is then the same ("ABBA" order; Abedi and Brecht, ICPE 2017, on why trials must be
/// interleaved at all). The same seed gives the same order.
pub fn schedule(plan: &Plan, seed: u64) -> Vec<Trial> {
    let mut random = SplitMix64::new(seed);
    let mut trials = Vec::new();
    for (step, clients) in plan
        .steps
        .iter()
        .enumerate()
        .flat_map(|(at, step)| step.clients.iter().map(move |&clients| (at, clients)))
    {
        let mut order: Vec<usize> = (0..plan.systems.len()).collect();
        random.shuffle(&mut order);
        for number in 0..plan.trials {
            let seed = random.next();
            trials.extend(order.iter().map(|&system| Trial { step, clients, number, system, seed }));
            order.reverse();
        }
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::plan;

    fn systems(trials: &[Trial], step: usize, clients: u32) -> Vec<usize> {
        trials.iter().filter(|t| t.step == step && t.clients == clients).map(|t| t.system).collect()
    }

    #[test]
    fn every_system_passes_every_step_at_every_concurrency_as_often_as_the_plan_says() {
        let plan = plan();
        let trials = schedule(&plan, 1);
        assert_eq!(trials.len(), plan.systems.len() * plan.steps.len() * 2 * plan.trials as usize);
        for (step, clients) in [(0, 1), (0, 4), (1, 1), (1, 4)] {
            for system in 0..plan.systems.len() {
                let numbers: Vec<_> = trials
                    .iter()
                    .filter(|t| (t.step, t.clients, t.system) == (step, clients, system))
                    .map(|t| t.number)
                    .collect();
                assert_eq!(numbers, (0..plan.trials).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn steps_follow_each_other_and_within_them_the_numbers_of_clients() {
        let places: Vec<_> = schedule(&plan(), 5).iter().map(|t| (t.step, t.clients, t.number)).collect();
        assert!(places.is_sorted());
    }

    #[test]
    fn each_pass_goes_through_the_systems_in_the_opposite_order_of_the_one_before() {
        for seed in 0..20 {
            let order = systems(&schedule(&plan(), seed), 1, 4);
            let passes: Vec<_> = order.chunks(3).collect();
            for pair in passes.windows(2) {
                assert!(pair[0].iter().eq(pair[1].iter().rev()), "{order:?}");
            }
        }
    }

    #[test]
    fn systems_of_a_pass_get_the_same_seed_and_passes_get_different_ones() {
        let trials = schedule(&plan(), 9);
        let mut seeds: Vec<_> =
            trials.chunks(3).map(|pass| pass.iter().map(|t| t.seed).collect::<Vec<_>>()).collect();
        assert!(seeds.iter().all(|pass| pass.iter().all(|seed| *seed == pass[0])));
        let passes = seeds.len();
        seeds.sort();
        seeds.dedup();
        assert_eq!(seeds.len(), passes);
    }

    #[test]
    fn the_seed_decides_which_system_begins() {
        assert_eq!(schedule(&plan(), 3), schedule(&plan(), 3));
        let mut first: Vec<_> = (0..50).map(|seed| schedule(&plan(), seed)[0].system).collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first, [0, 1, 2]);
    }
}
