//! The number of candidates of a search, and the number of rounds of its comparisons.

use serde::Serialize;

use super::TuneProbe;

/// Rounds of the comparison of the base with itself.
const CONTROL: u32 = 4;
/// Rounds of a comparison in the first stage. Each later stage has twice as many rounds as the stage before, up to
/// [`STAGE_MAX`].
const FIRST_STAGE: u32 = 3;
/// Largest number of rounds of a comparison in a stage.
const STAGE_MAX: u32 = 12;
/// A stage with at most this many candidates is the last stage, unless it is the first.
pub(super) const LAST_STAGE: usize = 3;
/// Fewest candidates. With fewer, a search is not worthwhile.
const CANDIDATES_MIN: usize = 4;
/// Largest number of candidates, whatever the budget.
const CANDIDATES_MAX: usize = 64;
/// Assumed number of settings of a winner. It is used to estimate how long the comparisons for their effects take.
const SETTINGS_EXPECTED: u32 = 4;

/// The size of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TuneSize {
    /// Rounds of a confirmation. The comparison for the effect of a setting has half as many rounds.
    pub rounds_confirmed: u32,
}

impl TuneSize {
    /// Rounds of a comparison.
    pub fn rounds(self, probe: &TuneProbe) -> u32 {
        match probe {
            TuneProbe::Control => CONTROL,
            TuneProbe::Search { stage, .. } => rounds_of_stage(*stage),
            TuneProbe::Confirm(_) => self.rounds_confirmed,
            TuneProbe::Without { .. } => self.rounds_without(),
        }
    }

    fn rounds_without(self) -> u32 {
        (self.rounds_confirmed / 2).max(FIRST_STAGE)
    }

    /// Fewest rounds of a search with this many candidates: the control, one stage, and the confirmation. One round
    /// is added to each comparison for the time that its start takes.
    pub fn rounds_least(self, candidates: usize) -> u32 {
        (CONTROL + 1) + (FIRST_STAGE + 1) * candidates as u32 + (self.rounds_confirmed + 1)
    }

    /// Expected rounds of the whole search with this many candidates, if the winner has four settings. One round is
    /// added to each comparison for the time that its start takes.
    pub fn rounds_expected(self, candidates: usize) -> u32 {
        let mut rounds = self.rounds_least(candidates);
        let (mut left, mut stage) = (kept(candidates), 1);
        while left > 1 && candidates > LAST_STAGE {
            rounds += (rounds_of_stage(stage) + 1) * left as u32;
            if left <= LAST_STAGE {
                break;
            }
            (left, stage) = (kept(left), stage + 1);
        }
        rounds + (self.rounds_confirmed + 1) + (self.rounds_without() + 1) * SETTINGS_EXPECTED
    }

    /// The largest number of candidates whose search is expected to take at most this many rounds. It is at least
    /// [`Self::candidates_min`], even if that search takes more rounds.
    pub fn candidates_within(self, rounds: u32) -> usize {
        let fits = |candidates: &usize| self.rounds_expected(*candidates) <= rounds;
        (CANDIDATES_MIN..=CANDIDATES_MAX).rev().find(fits).unwrap_or(CANDIDATES_MIN)
    }

    /// The fewest candidates that a search has.
    pub fn candidates_min() -> usize {
        CANDIDATES_MIN
    }
}

fn rounds_of_stage(stage: u32) -> u32 {
    FIRST_STAGE.saturating_mul(1 << stage.min(8)).min(STAGE_MAX)
}

/// The largest number of candidates of a stage that reach the next stage.
pub(super) fn kept(candidates: usize) -> usize {
    candidates.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tune::ValueSet;

    const SIZE: TuneSize = TuneSize { rounds_confirmed: 12 };

    #[test]
    fn stages_have_twice_the_rounds_up_to_a_limit() {
        let of = |stage| SIZE.rounds(&TuneProbe::Search { stage, candidate: ValueSet::default() });
        assert_eq!([of(0), of(1), of(2), of(3), of(40)], [3, 6, 12, 12, 12]);
    }

    #[test]
    fn a_larger_search_takes_more_rounds_and_a_budget_has_the_largest_that_fits() {
        let rounds: Vec<u32> = (4..64).map(|candidates| SIZE.rounds_expected(candidates)).collect();
        assert!(rounds.is_sorted(), "{rounds:?}");
        // The control takes 5 rounds, the stages 4 × 4 and 2 × 7, the two confirmations 13 each, and the four
        // settings 7 each.
        assert_eq!(rounds[0], 5 + 16 + 14 + 26 + 28);
        for budget in [90, 150, 200, 400] {
            let candidates = SIZE.candidates_within(budget);
            assert!(SIZE.rounds_expected(candidates) <= budget || candidates == CANDIDATES_MIN);
            assert!(SIZE.rounds_expected(candidates + 1) > budget);
        }
        assert_eq!(SIZE.candidates_within(0), CANDIDATES_MIN);
    }
}
