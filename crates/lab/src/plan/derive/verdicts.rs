//! Whether a plan has enough rounds for verdicts, and after which rounds verdicts are judged.

use dyno_judge::{rounds_for_family, tests_sharing};
use dyno_stats::Looks;

use crate::plan::{Plan, Rounds};

/// Number of rounds that measure costs and variances, before the rest of a time budget is divided.
const PILOT: u32 = 3;

/// A plan whose rounds cannot give every test a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewRounds {
    /// The highest number of rounds that the plan allows.
    pub rounds: usize,
    /// The lowest number of rounds with which every test can have a verdict.
    pub wanted: usize,
    /// Number of tests. Each is a step that every round measures, at one number of clients, for one candidate.
    pub tests: usize,
}

impl Plan {
    /// Returns `None` if the plan has enough rounds, or if it compares nothing.
    pub fn too_few_rounds(&self) -> Option<TooFewRounds> {
        let tests = self.tests();
        let rounds = self.rounds.max() as usize;
        let wanted = rounds_for_family(self.correction, tests, self.rounds.alpha());
        (tests > 0 && rounds < wanted).then_some(TooFewRounds { rounds, wanted, tests })
    }

    /// Returns the looks (the rounds after which verdicts are judged) of a run with `rounds = "until-decided"`. Looks
    /// at which no test could have an alarm are left out. Returns `None` for a run with other `rounds`, and if no look
    /// remains.
    pub fn looks(&self) -> Option<Looks> {
        let Rounds::UntilDecided(decision) = self.rounds else { return None };
        let sharing = tests_sharing(self.correction, self.tests());
        Looks::new(decision.rounds_max as usize, decision.alpha, sharing)
    }

    /// Returns the lowest number of rounds of a run. This is the planned number of rounds, the number of rounds before
    /// the first look, or, for a time budget, the number of rounds that measure costs and variances.
    pub fn rounds_min(&self) -> u32 {
        match self.rounds {
            Rounds::Fixed(rounds) => rounds,
            Rounds::Budget { .. } => PILOT,
            Rounds::UntilDecided(decision) => {
                self.looks().map_or(decision.rounds_max, |looks| looks.at[0].rounds as u32)
            }
        }
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
    use dyno_store::Correction;

    use super::*;
    use crate::plan::Decision;
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
        // With n rounds, the smallest possible p-value is 2/2ⁿ. This p-value must be at most 0.05 divided by the
        // number of tests.
        assert!(2.0 / 2_f64.powi(by_holm.wanted as i32) <= 0.05 / by_holm.tests as f64);
        plan.rounds = Rounds::Fixed(by_holm.wanted as u32);
        assert_eq!(plan.too_few_rounds(), None);
        plan.rounds = Rounds::Budget { seconds: 60.0 };
        assert_eq!(plan.too_few_rounds(), None, "it is not known how many fit");
        plan.rounds = Rounds::Fixed(1);
        plan.systems.truncate(1);
        assert_eq!(plan.too_few_rounds(), None, "nothing is compared");
    }

    fn planned(rounds: Rounds, correction: Correction) -> Plan {
        Plan { rounds, correction, ..plan() }
    }

    /// Returns the numbers of rounds of a plan's looks. The list is empty if there are no looks.
    fn looks(plan: &Plan) -> Vec<usize> {
        plan.looks().into_iter().flat_map(|looks| looks.at).map(|look| look.rounds).collect()
    }

    #[test]
    fn only_runs_until_decided_have_looks() {
        let fixed = planned(Rounds::Fixed(8), Correction::MaxT);
        assert_eq!((fixed.rounds_min(), fixed.rounds.max(), fixed.looks()), (8, 8, None));
        let budget = planned(Rounds::Budget { seconds: 600.0 }, Correction::MaxT);
        assert_eq!((budget.rounds_min(), budget.rounds.max(), budget.looks()), (3, 1000, None));
        let until = |max| planned(Rounds::UntilDecided(Decision::within(max)), Correction::MaxT);
        assert_eq!((until(20).rounds_min(), looks(&until(20)).last()), (7, Some(&20)));
        assert_eq!((until(6).rounds_min(), looks(&until(6))), (6, vec![6]));
    }

    #[test]
    fn looks_that_cannot_decide_are_left_out() {
        let strict = |max| {
            let decision = Decision { alpha: 0.05 / 3.0, ..Decision::within(max) };
            planned(Rounds::UntilDecided(decision), Correction::MaxT)
        };
        assert!(strict(20).rounds_min() > 7 && looks(&strict(20)).len() > 1);
        assert_eq!((strict(6).rounds_min(), strict(6).looks()), (6, None), "no look can decide");
        assert!(strict(6).too_few_rounds().is_some());
        let by_holm = planned(Rounds::UntilDecided(Decision::within(20)), Correction::Holm);
        for look in by_holm.looks().unwrap().at {
            // The smallest p-value, 2/2ⁿ, must be at most the level of the look divided by the number of tests.
            assert!(2.0 / 2_f64.powi(look.rounds as i32) <= look.alpha / by_holm.tests() as f64, "{look:?}");
        }
    }
}
