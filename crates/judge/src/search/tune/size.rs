//! The number of candidates of a search, and the number of rounds of its comparisons.

use serde::Serialize;

use super::TuneProbe;

/// Rounds of the comparison of the base with itself.
const CONTROL: u32 = 4;
/// Rounds in the first stage; each stage has twice as many as the one before.
const FIRST_STAGE: u32 = 3;
/// Most rounds of a comparison of the search.
const STAGE_MAX: u32 = 12;
/// A stage with at most this many candidates is the last.
pub(super) const LAST_STAGE: usize = 3;
/// With fewer candidates, a search is not worthwhile.
const CANDIDATES_MIN: usize = 4;
/// Largest number of candidates that a budget gives.
const CANDIDATES_MAX: usize = 64;
/// Assumed number of settings of a winner, to estimate the time for their effects.
const SETTINGS_EXPECTED: u32 = 4;

/// Sizes of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TuneSize {
    /// Rounds of a confirmation. The comparison for the effect of a setting has half as many.
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

    /// Fewest rounds of a search with this many candidates: the control, one stage, and the confirmation. For each
    /// comparison, a round is added for the time of its start.
    pub fn rounds_least(self, candidates: usize) -> u32 {
        (CONTROL + 1) + (FIRST_STAGE + 1) * candidates as u32 + (self.rounds_confirmed + 1)
    }

    /// Expected rounds of the whole search with this many candidates, if the winner has some settings.
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

    /// The largest number of candidates whose search takes at most this many rounds, but not below the minimum.
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
        // Control 5, stages 4 × 4 and 2 × 7, two confirmations of 13, four settings of 7.
        assert_eq!(rounds[0], 5 + 16 + 14 + 26 + 28);
        for budget in [90, 150, 200, 400] {
            let candidates = SIZE.candidates_within(budget);
            assert!(SIZE.rounds_expected(candidates) <= budget || candidates == CANDIDATES_MIN);
            assert!(SIZE.rounds_expected(candidates + 1) > budget);
        }
        assert_eq!(SIZE.candidates_within(0), CANDIDATES_MIN);
    }
}
