//! Delta debugging: the fewest changes that show a difference.

use super::effect::{Goal, Shows};
use super::{OrProbe, Probe, ProbeOutcome, Proving, Supply};

/// Changes that show a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Narrowed {
    pub(super) changes: Vec<usize>,
    /// Whether each is necessary.
    pub(super) is_smallest: bool,
}

impl Proving {
    /// The fewest of some changes that show the difference, which all of them together show.
    ///
    /// This is ddmin (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions on
    /// Software Engineering 28(2), 2002): halves, then quarters and what is left without each, and so on. A probe that was
    /// refused, or not decided with more rounds either, counts as one that does not show the difference. Where evidence speaks for
    /// the first change, that one is tried alone before.
    pub(super) fn narrow(&self, changes: &[usize], goal: Goal, supply: Supply) -> OrProbe<Narrowed> {
        let mut left = changes.to_vec();
        let mut parts = 2;
        if left.len() > 2
            && left[0] < self.question.suspects
            && self.shows(&left[..1], goal, supply)? == Shows::Yes
        {
            left.truncate(1);
        }
        while left.len() > 1 {
            let chunks = divided(&left, parts);
            if let Some(chunk) = self.first_that_shows(&chunks, goal, supply)? {
                (left, parts) = (chunk, 2);
                continue;
            }
            // Before the long search for what acts together only: is it the changes at all?
            if parts == 2 && self.is_everything(&left) && self.shows(&left, goal, supply)? != Shows::Yes {
                break;
            }
            if parts > 2 {
                let without = chunks.iter().map(|chunk| difference(&left, chunk)).collect::<Vec<_>>();
                if let Some(complement) = self.first_that_shows(&without, goal, supply)? {
                    (left, parts) = (complement, parts - 1);
                    continue;
                }
            }
            if parts == left.len() {
                break;
            }
            parts = (2 * parts).min(left.len());
        }
        // Where a probe was not decided, or none was left, the end of the search says little.
        let is_smallest = self.are_necessary(&left, goal);
        Ok(Narrowed { changes: left, is_smallest })
    }

    /// Whether without any one of the changes the others were shown not to make the difference, or are refused.
    fn are_necessary(&self, changes: &[usize], goal: Goal) -> bool {
        let is_necessary = |change: &usize| {
            let others = Probe::Changes(difference(changes, &[*change]));
            match self.known.get(&others) {
                Some((ProbeOutcome::Measured(effect), _)) => goal.shown_by(Some(*effect)) == Shows::No,
                Some((ProbeOutcome::Refused, _)) => true,
                None => false,
            }
        };
        changes.len() == 1 || changes.iter().all(is_necessary)
    }

    /// The first of some sets that shows the difference. Those that decide nothing are made again only if no other shows it.
    fn first_that_shows(
        &self,
        sets: &[Vec<usize>],
        goal: Goal,
        supply: Supply,
    ) -> OrProbe<Option<Vec<usize>>> {
        for set in sets {
            if goal.shown_by(self.effect_of(set, supply)?) == Shows::Yes {
                return Ok(Some(set.clone()));
            }
        }
        for set in sets {
            if self.shows(set, goal, supply)? == Shows::Yes {
                return Ok(Some(set.clone()));
            }
        }
        Ok(None)
    }

    /// Whether some changes show the difference, by more rounds where that is not decided.
    pub(super) fn shows(&self, changes: &[usize], goal: Goal, supply: Supply) -> OrProbe<Shows> {
        let shows = goal.shown_by(self.effect_of(changes, supply)?);
        if shows == Shows::Unresolved {
            self.repeat(&Probe::Changes(changes.to_vec()), supply)?;
        }
        Ok(shows)
    }
}

/// A list in parts of nearly equal length, in order.
fn divided(list: &[usize], parts: usize) -> Vec<Vec<usize>> {
    let end = |part: usize| part * list.len() / parts;
    (0..parts).map(|part| list[end(part)..end(part + 1)].to_vec()).collect()
}

fn difference(list: &[usize], without: &[usize]) -> Vec<usize> {
    list.iter().copied().filter(|change| !without.contains(change)).collect()
}
