//! The look at which a run is judged. A look is one of the planned (interim) analyses of a run.

use std::collections::{BTreeMap, BTreeSet};

use dyno_stats::{Look, Looks};
use dyno_store::{Run, StepRecord};

use crate::trial::of_run::tests;

/// The look that a run has reached with the rounds up to `last_round`, or with all rounds. `None` if the run is judged
/// only once. `alpha` is the error probability of all looks together.
///
/// The looks follow from the planned maximum of rounds and the number of looks. The run records both.
pub(crate) fn look_of(run: &Run, last_round: Option<u32>, alpha: f64) -> Option<Look> {
    let (rounds_max, number) = (run.record.rounds as usize, run.record.looks as usize);
    let looks = (number > 1).then(|| Looks::of(rounds_max, number, alpha))?;
    looks.for_rounds(rounds_measured(run, last_round))
}

/// Number of complete rounds, up to `last_round` if it is given. A round is complete if it tried every test that the
/// run still measured. Steps that are not measured in every round, such as data loads, do not count. Failed and
/// disturbed trials count as tried.
fn rounds_measured(run: &Run, last_round: Option<u32>) -> usize {
    let mut rounds: BTreeMap<u32, BTreeSet<(&str, u32)>> = BTreeMap::new();
    for trial in run.trials.iter().map(|trial| &trial.record) {
        if last_round.is_none_or(|last| trial.round <= last) {
            rounds.entry(trial.round).or_default().insert((&trial.step_id, trial.clients));
        }
    }
    let is_in_every_round = |(step, _): &(&StepRecord, u32)| step.rounds >= run.record.rounds;
    let wanted: Vec<(&str, u32)> = tests(run)
        .filter(is_in_every_round)
        .map(|(step, clients)| (step.id.as_str(), clients))
        .filter(|test| rounds.values().any(|tried| tried.contains(test)))
        .collect();
    let was_left = |round: u32, (step, clients): (&str, u32)| {
        let mut left = run.left_tests.iter();
        left.any(|left| left.step == step && left.clients == clients && left.last_round < round)
    };
    let is_whole = |(round, tried): &(&u32, &BTreeSet<_>)| {
        wanted.iter().all(|test| tried.contains(test) || was_left(**round, *test))
    };
    rounds.iter().filter(is_whole).count()
}

#[cfg(test)]
mod tests {
    use dyno_store::LeftTest;

    use super::*;
    use crate::sample::{add_step, around, fail_in, run};

    /// A run of two steps with these numbers of measured rounds. 20 rounds were planned, with four looks.
    fn run_of(rounds: [usize; 2]) -> Run {
        let mut run = run(1, &["old", "new"]);
        for (step, rounds) in ["first", "last"].into_iter().zip(rounds) {
            let rates = |seed| around(1000.0, 0.01, rounds, seed);
            add_step(&mut run, "reads", step, 4, &[("old", rates(1)), ("new", rates(2))]);
        }
        run.steps.iter_mut().for_each(|step| step.rounds = 20);
        (run.record.rounds, run.record.looks) = (20, Looks::of(20, 9, 0.05).at.len() as u32);
        run
    }

    fn rounds_of_look(run: &Run, last_round: Option<u32>) -> usize {
        look_of(run, last_round, 0.05).unwrap().rounds
    }

    #[test]
    fn a_run_is_judged_at_the_look_of_its_whole_rounds() {
        let looks = Looks::of(20, 9, 0.05);
        for look in &looks.at {
            assert_eq!(look_of(&run_of([look.rounds; 2]), None, 0.05), Some(*look));
            assert_eq!(look_of(&run_of([20; 2]), Some(look.rounds as u32 - 1), 0.05), Some(*look));
        }
        let [first, second] = [looks.at[0].rounds, looks.at[1].rounds];
        assert_eq!(rounds_of_look(&run_of([1; 2]), None), first);
        assert_eq!(rounds_of_look(&run_of([first + 1; 2]), None), second, "time ended it between two looks");
        assert_eq!(rounds_of_look(&run_of([first + 1, first]), None), first, "the last round was cut short");
        let once =
            Run { record: dyno_store::RunRecord { looks: 1, ..run_of([9; 2]).record }, ..run_of([9; 2]) };
        assert_eq!(look_of(&once, None, 0.05), None);
    }

    #[test]
    fn rounds_count_with_failed_trials_and_without_tests_that_were_left() {
        let second = Looks::of(20, 9, 0.05).at[1].rounds;
        let mut run = run_of([7, second]);
        run.left_tests.push(LeftTest { step: "first".to_owned(), clients: 4, last_round: 6 });
        assert_eq!(rounds_of_look(&run, None), second);
        fail_in(&mut run, "last", "new", 0..3);
        assert_eq!(rounds_of_look(&run, None), second);
        add_step(&mut run, "load", "load", 1, &[("old", vec![1.0]), ("new", vec![1.0])]);
        assert_eq!(rounds_of_look(&run, None), second, "a load of the first round");
    }
}
