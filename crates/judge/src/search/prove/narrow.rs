//! Delta debugging, which finds the fewest changes that show a difference.

use super::effect::{Goal, Shows};
use super::{OrProbe, Probe, ProbeOutcome, Proving, Supply};

/// Changes that show the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Narrowed {
    pub(super) changes: Vec<usize>,
    /// Whether each change is necessary.
    pub(super) is_smallest: bool,
}

impl Proving {
    /// Finds as few of `changes` as possible that still show the difference. All of `changes` together must show it.
    ///
    /// The method is ddmin (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE
    /// Transactions on Software Engineering 28(2), 2002): it tries halves, then quarters and everything except each
    /// quarter, and so on. A probe that was refused, or is undecided even with more rounds, counts as not showing the
    /// difference. If the first change has evidence, it is tried alone first.
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
            // The search for changes that act only together takes many probes. Before this search, a probe tests
            // whether all changes show the difference at all.
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
        // If a probe was undecided, or no more probes were allowed, the remaining changes may not be the fewest.
        let is_smallest = self.are_necessary(&left, goal);
        Ok(Narrowed { changes: left, is_smallest })
    }

    /// Whether each change is necessary. A change is necessary if a probe has shown that the other changes do not make
    /// the difference, or if the server refused the other changes.
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

    /// The first of some sets that shows the difference. Probes of undecided sets are repeated only if no set shows
    /// it.
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

    /// Whether some changes show the difference. If this is undecided, the probe is repeated with more rounds.
    pub(super) fn shows(&self, changes: &[usize], goal: Goal, supply: Supply) -> OrProbe<Shows> {
        let shows = goal.shown_by(self.effect_of(changes, supply)?);
        if shows == Shows::Unresolved {
            self.repeat(&Probe::Changes(changes.to_vec()), supply)?;
        }
        Ok(shows)
    }
}

/// Divides a list into parts of nearly equal length, in order.
fn divided(list: &[usize], parts: usize) -> Vec<Vec<usize>> {
    let end = |part: usize| part * list.len() / parts;
    (0..parts).map(|part| list[end(part)..end(part + 1)].to_vec()).collect()
}

fn difference(list: &[usize], without: &[usize]) -> Vec<usize> {
    list.iter().copied().filter(|change| !without.contains(change)).collect()
}
