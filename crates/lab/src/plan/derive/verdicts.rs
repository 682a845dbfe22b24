//! Whether a plan has enough rounds for verdicts.

use dyno_stats::rounds_min;
use dyno_store::Correction;

use crate::plan::Plan;

/// A plan whose rounds cannot give every test a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewRounds {
    /// The most rounds that the plan can have.
    pub rounds: usize,
    /// The fewest rounds in which a verdict is possible.
    pub wanted: usize,
    /// Number of tests: the steps that every round measures, times their numbers of clients, times the
    /// candidates.
    pub tests: usize,
}

impl Plan {
    /// `None` if the plan has enough rounds, or compares nothing.
    pub fn too_few_rounds(&self) -> Option<TooFewRounds> {
        let tests = self.tests();
        let sharing = if self.correction == Correction::Holm { tests } else { 1 };
        let error = self.rounds.alpha() / (sharing.max(1) * self.rounds.looks() as usize) as f64;
        let (rounds, wanted) = (self.rounds.max() as usize, rounds_min(1.0 - error));
        (tests > 0 && rounds < wanted).then_some(TooFewRounds { rounds, wanted, tests })
    }

    fn tests(&self) -> usize {
        let candidates = |step: usize| {
            let is_candidate = |at: &usize| *at != self.base && self.systems[*at].control_of.is_none();
            self.systems_of(step).filter(is_candidate).count()
        };
        let judged =
            self.steps.iter().enumerate().filter(|(_, step)| !step.is_load() || self.load_every_round);
        judged.map(|(at, step)| step.clients.len() * candidates(at)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Rounds;
    use crate::plan::testing::plan;

    #[test]
    fn six_rounds_can_decide_unless_each_test_is_corrected_alone() {
        let mut plan = plan();
        plan.rounds = Rounds::Fixed(5);
        let found = plan.too_few_rounds().unwrap();
        assert_eq!((found.rounds, found.wanted), (5, 6));
        assert_eq!(found.tests, plan.tests());
        plan.rounds = Rounds::Fixed(6);
        assert_eq!(plan.too_few_rounds(), None);
        plan.correction = Correction::Holm;
        let by_holm = plan.too_few_rounds().unwrap();
        // 2/2ⁿ ≤ 0.05 divided by the number of tests.
        assert!(2.0 / 2_f64.powi(by_holm.wanted as i32) <= 0.05 / by_holm.tests as f64);
        plan.rounds = Rounds::Fixed(by_holm.wanted as u32);
        assert_eq!(plan.too_few_rounds(), None);
        plan.rounds = Rounds::Budget { seconds: 60.0 };
        assert_eq!(plan.too_few_rounds(), None, "it is not known how many fit");
        plan.rounds = Rounds::Fixed(1);
        plan.systems.truncate(1);
        assert_eq!(plan.too_few_rounds(), None, "nothing is compared");
    }
}
