//! The order of trials: systems take turns, so that whatever drifts over time meets all of them alike.

use dyno_stats::SplitMix64;

use crate::plan::Plan;

/// One step at one number of clients: what is compared by the trials of all systems in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its place in the order of the plan's blocks.
    pub number: usize,
    /// Position of the step in the plan.
    pub step: usize,
    /// Connections.
    pub clients: u32,
}

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

/// A plan's blocks in the order in which to run them: step after step and, in a step, one number of clients after
/// the other.
pub fn blocks(plan: &Plan) -> Vec<Block> {
    let levels = plan.steps.iter().enumerate();
    levels
        .flat_map(|(step, each)| each.clients.iter().map(move |&clients| (step, clients)))
        .enumerate()
        .map(|(number, (step, clients))| Block { number, step, clients })
        .collect()
}

/// The trials of a block's pass, in order.
///
/// Passes come in twos: in the first the systems go in a random order, in the second in the opposite one (A B C,
/// C B A): with a steady drift, every system's average place in time is then the same ("ABBA" order; Abedi and
/// Brecht, ICPE 2017, on why trials must be interleaved and their order be random). The order rests on the seed and
/// the pass alone, so a run that is taken up again goes on as it would have.
pub fn pass(plan: &Plan, seed: u64, block: Block, number: u32) -> impl Iterator<Item = Trial> {
    let mut order: Vec<usize> = (0..plan.systems.len()).collect();
    random(seed, block.number, number / 2, ORDER).shuffle(&mut order);
    if number % 2 == 1 {
        order.reverse();
    }
    let seed = random(seed, block.number, number, LOAD).draw();
    let Block { step, clients, .. } = block;
    order.into_iter().map(move |system| Trial { step, clients, number, system, seed })
}

/// What follows a trial, in order, if every block ends after the plan's fewest passes; a block that has gone on
/// for longer ends with the pass of the trial.
pub(crate) fn following<'a>(plan: &'a Plan, seed: u64, of: &Trial) -> impl Iterator<Item = Trial> + use<'a> {
    let of = *of;
    let here = move |block: &Block| (block.step, block.clients) == (of.step, of.clients);
    blocks(plan)
        .into_iter()
        .skip_while(move |block| !here(block))
        .flat_map(move |block| {
            let numbers = if here(&block) {
                of.number..plan.trials.min().max(of.number + 1)
            } else {
                0..plan.trials.min()
            };
            numbers.flat_map(move |number| pass(plan, seed, block, number))
        })
        .skip_while(move |trial| *trial != of)
        .skip(1)
}

/// Which of a pass's random numbers is drawn.
const ORDER: u64 = 0;
const LOAD: u64 = 1;

/// A generator of its own for each purpose: the parts are mixed in one after the other.
fn random(seed: u64, block: usize, pass: u32, purpose: u64) -> SplitMix64 {
    [block as u64, u64::from(pass), purpose]
        .into_iter()
        .fold(SplitMix64::new(seed), |mut mixed, part| SplitMix64::new(mixed.draw() ^ part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::plan;

    fn order(seed: u64, block: usize, number: u32) -> Vec<usize> {
        let plan = plan();
        pass(&plan, seed, blocks(&plan)[block], number).map(|trial| trial.system).collect()
    }

    #[test]
    fn steps_follow_each_other_and_within_them_the_numbers_of_clients() {
        let places: Vec<_> = blocks(&plan()).iter().map(|block| (block.step, block.clients)).collect();
        assert_eq!(places, [(0, 1), (0, 4), (1, 1), (1, 4)]);
    }

    #[test]
    fn every_system_goes_once_in_every_pass() {
        for number in 0..8 {
            let mut systems = order(1, 2, number);
            systems.sort_unstable();
            assert_eq!(systems, [0, 1, 2]);
        }
    }

    #[test]
    fn passes_come_in_pairs_of_opposite_orders_and_pairs_differ() {
        let mut firsts = Vec::new();
        for number in (0..40).step_by(2) {
            let (first, second) = (order(7, 1, number), order(7, 1, number + 1));
            assert!(first.iter().eq(second.iter().rev()), "{first:?} {second:?}");
            firsts.push(first);
        }
        firsts.sort();
        firsts.dedup();
        assert!(firsts.len() > 3, "{firsts:?}");
    }

    #[test]
    fn systems_of_a_pass_get_the_same_seed_and_passes_get_different_ones() {
        let plan = plan();
        let mut seeds = Vec::new();
        for block in blocks(&plan) {
            for number in 0..4 {
                let of_pass: Vec<_> = pass(&plan, 9, block, number).map(|trial| trial.seed).collect();
                assert!(of_pass.iter().all(|seed| *seed == of_pass[0]));
                seeds.push(of_pass[0]);
            }
        }
        let passes = seeds.len();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), passes);
    }

    #[test]
    fn each_trial_is_followed_by_the_rest_of_the_run() {
        let plan = plan();
        let passes = |block| (0..plan.trials.min()).map(move |number| (block, number));
        let all: Vec<Trial> = blocks(&plan)
            .into_iter()
            .flat_map(passes)
            .flat_map(|(block, number)| pass(&plan, 7, block, number))
            .collect();
        for (at, trial) in all.iter().enumerate() {
            assert!(following(&plan, 7, trial).eq(all[at + 1..].iter().copied()), "{trial:?}");
        }
        let extra = Trial { number: plan.trials.min() + 2, ..all[0] };
        let extra = pass(&plan, 7, blocks(&plan)[0], extra.number).last().unwrap();
        let after = following(&plan, 7, &extra).next().unwrap();
        assert_eq!(
            (after.step, after.clients, after.number),
            (0, 4, 0),
            "a block's last pass is followed by the next block"
        );
    }

    #[test]
    fn the_seed_decides_which_system_begins() {
        assert_eq!(order(3, 0, 0), order(3, 0, 0));
        let mut first: Vec<_> = (0..50).map(|seed| order(seed, 0, 0)[0]).collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first, [0, 1, 2]);
    }
}
