//! The order of trials. Systems take turns, so that drift affects all of them alike.

use dyno_stats::SplitMix64;

use crate::plan::Plan;

/// A step at one number of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Position in the plan's list of blocks.
    pub number: usize,
    /// Position of the step in the plan.
    pub step: usize,
    pub clients: u32,
}

/// The measurement of one system in one block of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Position of the step in the plan.
    pub step: usize,
    pub clients: u32,
    /// Number of the round, from 0. The systems' trials of one round are compared with each other.
    pub round: u32,
    /// Position of the system in the plan.
    pub system: usize,
    /// Seed of the load. It is the same for all systems of a round, so that all get the same queries.
    pub seed: u64,
}

/// Returns a plan's blocks in order of execution. All numbers of clients of a step come before the next step.
pub fn blocks(plan: &Plan) -> Vec<Block> {
    let levels = plan.steps.iter().enumerate();
    levels
        .flat_map(|(step, each)| each.clients.iter().map(move |&clients| (step, clients)))
        .enumerate()
        .map(|(number, (step, clients))| Block { number, step, clients })
        .collect()
}

/// Returns the blocks of a round in order of execution. The result of a block depends on its place in the round,
/// because other blocks change the caches, and because the load on the host changes with time. So neighbouring blocks
/// that only read change their order from round to round, as systems do. The first round has the order of the plan, and
/// the second round the opposite order. Later rounds come in pairs of a random order and its opposite. Blocks that may
/// write keep their places, because later blocks depend on the changed data.
pub(crate) fn round_blocks(plan: &Plan, seed: u64, round: u32) -> Vec<Block> {
    let mut blocks = blocks(plan);
    let only_reads = |block: &Block| plan.steps[block.step].only_reads();
    for neighbours in blocks.chunk_by_mut(|one, next| only_reads(one) && only_reads(next)) {
        let as_planned = neighbours.to_vec();
        let first = as_planned[0].number;
        match round {
            0 => {}
            1 => neighbours.reverse(),
            _ => {
                let order = turns(as_planned.len(), round, |pair| random(seed, first, pair, 0, STEPS));
                for (place, from) in neighbours.iter_mut().zip(order) {
                    *place = as_planned[from];
                }
            }
        }
    }
    blocks
}

/// Returns the trials of a block in a round, in order.
///
/// Rounds come in pairs. The first round of a pair has a random order of systems, and the second the opposite order
/// (A B C, C B A). Every system is then measured at the same average time, so a steady drift affects all alike. This
/// is called "ABBA" order. Abedi and Brecht (ICPE 2017) explain why trials must be interleaved, in a random order. The
/// order depends only on the seed, the block and the round, so a resumed run continues with the same order.
pub fn trials(plan: &Plan, seed: u64, block: Block, round: u32) -> impl Iterator<Item = Trial> + use<> {
    let order = turns(plan.systems.len(), round, |pair| random(seed, block.number, pair, 0, ORDER));
    let seed = random(seed, block.number, round, 0, LOAD).draw();
    let Block { step, clients, .. } = block;
    let planned: Vec<usize> = plan.systems_of(step).collect();
    let order = order.into_iter().filter(move |system| planned.contains(system));
    order.map(move |system| Trial { step, clients, round, system, seed })
}

/// Returns the order in which systems are started in a round, by index. It is random, and reversed in every second
/// round.
pub(crate) fn starts(systems: usize, seed: u64, round: u32) -> Vec<usize> {
    turns(systems, round, |pair| random(seed, 0, pair, 0, START))
}

/// Returns the order of systems' slices in a cycle of a block in a round. Like the trials of rounds, cycles come in
/// pairs of opposite order.
pub(crate) fn cycle(systems: usize, seed: u64, block: Block, round: u32, cycle: u32) -> Vec<usize> {
    turns(systems, cycle, |pair| random(seed, block.number, round, pair, CYCLE))
}

/// Returns the order of systems in the turn with the number `turn`. A turn is a round or a cycle. Turns come in pairs:
/// the first of a pair has a random order, and the second has the opposite order.
fn turns(systems: usize, turn: u32, random: impl Fn(u32) -> SplitMix64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..systems).collect();
    random(turn / 2).shuffle(&mut order);
    if turn % 2 == 1 {
        order.reverse();
    }
    order
}

/// The purposes of random numbers. Each purpose has its own generator.
const ORDER: u64 = 0;
const LOAD: u64 = 1;
const CYCLE: u64 = 2;
const START: u64 = 3;
const STEPS: u64 = 4;

/// Returns the generator for a purpose. The parts are mixed in one after another.
fn random(seed: u64, block: usize, round: u32, cycle: u32, purpose: u64) -> SplitMix64 {
    [block as u64, u64::from(round), u64::from(cycle), purpose]
        .into_iter()
        .fold(SplitMix64::new(seed), |mut mixed, part| SplitMix64::new(mixed.draw() ^ part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse, plan};

    fn order(seed: u64, block: usize, round: u32) -> Vec<usize> {
        let plan = plan();
        trials(&plan, seed, blocks(&plan)[block], round).map(|trial| trial.system).collect()
    }

    #[test]
    fn steps_follow_each_other_and_within_them_the_numbers_of_clients() {
        let places: Vec<_> = blocks(&plan()).iter().map(|block| (block.step, block.clients)).collect();
        assert_eq!(places, [(0, 1), (0, 4), (1, 1), (1, 4)]);
    }

    #[test]
    fn steps_that_only_read_take_turns_and_others_stay() {
        let step = |id: &str| {
            format!("[[step]]\nid = \"{id}\"\ngroup = \"g\"\nworkload = \"{id}\"\noperation = \"query\"\n")
        };
        let steps = ["oltp_insert", "oltp_point_select", "oltp_scan", "select_random_points", "oltp_delete"];
        let (head, _) = TEXT.split_once("[[step]]").unwrap();
        let text = format!("{head}{}", steps.map(step).concat()).replace("clients = [1, 4]", "clients = [1]");
        let plan = parse(&text).unwrap();
        let order =
            |round| -> Vec<usize> { round_blocks(&plan, 7, round).iter().map(|it| it.number).collect() };
        assert_eq!(order(0), [0, 1, 2, 3, 4]);
        let mut middles = Vec::new();
        for round in (0..60).step_by(2) {
            let (one, next) = (order(round), order(round + 1));
            assert!(one[0] == 0 && one[4] == 4 && next[0] == 0 && next[4] == 4, "{one:?} {next:?}");
            assert!(one[1..4].iter().eq(next[1..4].iter().rev()), "{one:?} {next:?}");
            middles.push(one[1..4].to_vec());
        }
        middles.sort();
        middles.dedup();
        assert_eq!(middles.len(), 6, "all orders of three come up");
    }

    #[test]
    fn every_system_goes_once_in_every_round_and_cycle() {
        let block = blocks(&plan())[1];
        for number in 0..8 {
            for mut systems in [order(1, 2, number), cycle(3, 1, block, 5, number), starts(3, 1, number)] {
                systems.sort_unstable();
                assert_eq!(systems, [0, 1, 2]);
            }
        }
    }

    #[test]
    fn turns_come_in_twos_of_opposite_orders_and_pairs_differ() {
        let block = blocks(&plan())[1];
        let of_round = |number| order(7, 1, number);
        let of_cycle = |number| cycle(3, 7, block, 3, number);
        for order in [&of_round as &dyn Fn(u32) -> Vec<usize>, &of_cycle] {
            let mut firsts = Vec::new();
            for number in (0..40).step_by(2) {
                let (first, second) = (order(number), order(number + 1));
                assert!(first.iter().eq(second.iter().rev()), "{first:?} {second:?}");
                firsts.push(first);
            }
            firsts.sort();
            firsts.dedup();
            assert!(firsts.len() > 3, "{firsts:?}");
        }
    }

    #[test]
    fn systems_of_a_round_get_the_same_seed_and_rounds_get_different_ones() {
        let plan = plan();
        let mut seeds = Vec::new();
        for block in blocks(&plan) {
            for round in 0..4 {
                let of_round: Vec<_> = trials(&plan, 9, block, round).map(|trial| trial.seed).collect();
                assert!(of_round.iter().all(|seed| *seed == of_round[0]));
                seeds.push(of_round[0]);
            }
        }
        let rounds = seeds.len();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), rounds);
    }

    #[test]
    fn a_step_leaves_out_the_systems_that_it_is_not_for() {
        let mut plan = plan();
        plan.steps[1].not_for = vec!["b".to_owned()];
        let block = blocks(&plan)[2];
        for round in 0..4 {
            let mut systems: Vec<_> = trials(&plan, 9, block, round).map(|trial| trial.system).collect();
            systems.sort_unstable();
            assert_eq!(systems, [0, 2]);
        }
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
