//! Proves which changes cause a difference between two systems. The method is delta debugging, in which comparisons
//! take the place of tests.

mod causes;
mod effect;
mod narrow;
mod rounds;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_stats::Margin;
use serde::Serialize;

use self::effect::{Goal, Shows};
pub use self::effect::{ProbeEffect, Relation};
pub use self::rounds::{rounds_again, rounds_for};

/// A comparison with the base that a proof needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// The original candidate.
    Whole,
    /// The base with some of the changes. The indices of the changes are in ascending order.
    Changes(Vec<usize>),
}

/// How many rounds a probe takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeLength {
    /// As many rounds as the noise of the first probe requires.
    Usual,
    /// More rounds, because the usual number was not enough. A probe of this length is not repeated.
    Longer,
}

/// The result of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProbeOutcome {
    Measured(ProbeEffect),
    /// The system did not start or its trials failed.
    Refused,
}

/// The difference to explain, and the changes that may explain it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProofQuestion {
    /// Number of changes that may cause the difference. Those with the most evidence come first.
    pub changes: usize,
    /// Number of changes with evidence, such as a counter that changed. They come first among the changes.
    pub suspects: usize,
    /// Whether the candidate is exactly the base with all changes. If it is not, the candidate also differs from the
    /// base in other ways.
    pub is_all: bool,
    /// The ratio to explain.
    pub ratio: f64,
    /// Differences below this margin do not matter.
    pub margin: Margin,
}

/// The next step of a proof.
#[derive(Clone, Debug, PartialEq)]
pub enum ProofStep {
    /// The next probe. It may repeat a probe that was undecided.
    Probe(Probe, ProbeLength),
    End(Proof),
}

/// What was proven.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// How the search ended.
    pub ending: ProofEnding,
    /// The difference, as measured again at the start of the proof; `None` if it was not measured.
    pub whole: Option<ProbeEffect>,
    /// The effect of all changes on the base. Known if the candidate also differs from the base in other ways, or if
    /// the changes turn out not to cause the candidate's difference.
    pub all_changes: Option<ProbeEffect>,
    /// Sets of changes that cause the difference, in the order in which they were found.
    pub causes: Vec<Cause>,
    /// The joint effect of all changes that are not causes.
    pub rest: Option<ProbeEffect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofEnding {
    /// The causes explain the difference: less than a fifth of it remains without them, or there are no other
    /// changes.
    Proven,
    /// Causes were found. Without them, a part of the difference may remain, and the causes of this part were not
    /// found.
    Partly,
    /// The search ended before the causes were narrowed to the fewest changes.
    NotNarrowed,
    /// When the comparison was repeated at the start of the proof, it showed no such difference.
    Gone,
    /// It is undecided whether the difference still exists, or whether all changes together cause it.
    Undecided,
    /// The candidate did not start when the difference was measured again.
    Refused,
    /// The changes do not cause the difference, not even all of them together.
    NotTheChanges,
    /// The search ended before it had measured the difference again, or before it had measured all changes on the
    /// base.
    Unfinished,
}

/// One or more changes that together cause a difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// Indices of the changes, ascending.
    pub changes: Vec<usize>,
    /// Whether each change is necessary. A change is necessary if the other changes alone do not show the
    /// difference, or if the server refuses them.
    pub is_smallest: bool,
    pub together: Option<ProbeEffect>,
    /// The effect of each change alone, if there are several changes. `None` for an effect that was not measured.
    pub alone: Vec<Option<ProbeEffect>>,
    /// How the effects of the single changes relate to the effect of all of them together. `None` for a single
    /// change, and for changes that were not narrowed.
    pub relation: Option<Relation>,
    /// The effect of the remaining changes, without this cause and earlier causes. `None` if no changes remain, or
    /// if it was not measured.
    pub without: Option<ProbeEffect>,
    /// How the effects of this cause and of the remaining changes combine.
    pub relation_to_rest: Option<Relation>,
}

/// A proof in progress: the probes that were made, with their outcomes. The outcomes determine the next probe, so
/// an interrupted proof continues where it stopped.
///
/// First the difference is measured again, because it may no longer exist. Then [`narrow`](Self::narrow) searches for
/// the fewest changes that make at least two fifths of the difference. If the remaining changes make a fifth of the
/// difference or more, they are explained in the same way. An undecided probe is repeated with more rounds, and only
/// the second outcome counts. There are at most [`probes_max`](Self::probes_max) probes, including repeated ones, and
/// each has an equal part of the total error probability (Bonferroni).
#[derive(Clone, Debug, PartialEq)]
pub struct Proving {
    question: ProofQuestion,
    known: BTreeMap<Probe, (ProbeOutcome, ProbeLength)>,
    /// Number of probes that were made.
    made: usize,
}

/// Whether more probes are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Supply {
    Open,
    Spent,
}

/// A computation that stops when it needs the outcome of another probe.
type OrProbe<T> = Result<T, (Probe, ProbeLength)>;

impl Proving {
    pub fn new(question: ProofQuestion) -> Self {
        Self { question, known: BTreeMap::new(), made: 0 }
    }

    /// Largest number of probes. A single cause among n changes takes at most 2⌈log₂ n⌉ + 4 if no probe is
    /// repeated. Two changes that act only together take about twice as many.
    pub fn probes_max(&self) -> usize {
        let halvings = self.question.changes.next_power_of_two().ilog2() as usize;
        4 * halvings + 9
    }

    /// Records the outcome of a probe of this length. If the probe was measured before, and the server refuses the
    /// repetition, the earlier outcome stays.
    pub fn note(&mut self, probe: Probe, length: ProbeLength, outcome: ProbeOutcome) {
        self.made += 1;
        let outcome = match (self.known.get(&probe), outcome) {
            (Some((before, _)), ProbeOutcome::Refused) => *before,
            _ => outcome,
        };
        self.known.insert(probe, (outcome, length));
    }

    pub fn next_step(&self) -> ProofStep {
        let supply = if self.made < self.probes_max() { Supply::Open } else { Supply::Spent };
        match self.replay(supply) {
            Ok(proof) => ProofStep::End(proof),
            Err((probe, length)) => ProofStep::Probe(probe, length),
        }
    }

    /// The proof from the probes so far.
    pub fn so_far(&self) -> Proof {
        self.replay(Supply::Spent).unwrap_or_else(|_| Proof::ended(ProofEnding::Unfinished, None))
    }

    /// The effect of a probe; `None` if the system refused it, or if its outcome is unknown and no more probes are
    /// allowed.
    fn effect(&self, probe: &Probe, supply: Supply) -> OrProbe<Option<ProbeEffect>> {
        match self.known.get(probe) {
            Some((ProbeOutcome::Measured(effect), _)) => Ok(Some(*effect)),
            Some((ProbeOutcome::Refused, _)) => Ok(None),
            None if supply == Supply::Spent => Ok(None),
            None => Err((probe.clone(), ProbeLength::Usual)),
        }
    }

    /// Asks for the repetition of an undecided probe with more rounds. Does nothing if the probe already had more
    /// rounds.
    fn repeat(&self, probe: &Probe, supply: Supply) -> OrProbe<()> {
        match self.known.get(probe) {
            Some((ProbeOutcome::Measured(_), ProbeLength::Usual)) if supply == Supply::Open => {
                Err((probe.clone(), ProbeLength::Longer))
            }
            _ => Ok(()),
        }
    }

    fn effect_of(&self, changes: &[usize], supply: Supply) -> OrProbe<Option<ProbeEffect>> {
        self.effect(&Probe::Changes(changes.to_vec()), supply)
    }

    /// Whether `changes` are all changes, and the candidate is exactly the base with all of them. The outcome for the
    /// candidate then shows their effect.
    fn is_everything(&self, changes: &[usize]) -> bool {
        self.question.is_all && changes.len() == self.question.changes
    }

    /// Replays the search with the known outcomes, up to the first unknown one.
    fn replay(&self, supply: Supply) -> OrProbe<Proof> {
        let ProofQuestion { changes, margin, ratio, is_all, .. } = self.question;
        let Some(whole) = self.effect(&Probe::Whole, supply)? else {
            let was_tried = self.known.contains_key(&Probe::Whole);
            let ending = if was_tried { ProofEnding::Refused } else { ProofEnding::Unfinished };
            return Ok(Proof::ended(ending, None));
        };
        if whole.is_within(margin) || whole.is_beyond(margin) && !whole.is_like(ratio) {
            return Ok(Proof::ended(ProofEnding::Gone, Some(whole)));
        }
        if !whole.is_beyond(margin) {
            self.repeat(&Probe::Whole, supply)?;
            return Ok(Proof::ended(ProofEnding::Undecided, Some(whole)));
        }
        let all: Vec<usize> = (0..changes).collect();
        let all_changes = if is_all { None } else { self.effect_of(&all, supply)? };
        let proof = Proof { all_changes, ..Proof::ended(ProofEnding::NotTheChanges, Some(whole)) };
        let to_explain = if is_all { Some(whole) } else { all_changes };
        let Some(to_explain) = to_explain.filter(|it| it.is_beyond(margin) && it.is_like(ratio)) else {
            let ending = self.ending_without_a_difference(all, whole, all_changes, supply)?;
            return Ok(Proof { ending, ..proof });
        };
        self.explain(to_explain, all, proof, supply)
    }

    /// How a search ends if no probe has shown that all changes on the base cause the difference.
    fn ending_without_a_difference(
        &self,
        all: Vec<usize>,
        whole: ProbeEffect,
        all_changes: Option<ProbeEffect>,
        supply: Supply,
    ) -> OrProbe<ProofEnding> {
        let probe = Probe::Changes(all);
        Ok(match all_changes {
            None if !self.known.contains_key(&probe) => ProofEnding::Unfinished,
            Some(_) if Goal::part_of(whole).shown_by(all_changes) == Shows::Unresolved => {
                self.repeat(&probe, supply)?;
                ProofEnding::Undecided
            }
            _ => ProofEnding::NotTheChanges,
        })
    }
}

impl Proof {
    fn ended(ending: ProofEnding, whole: Option<ProbeEffect>) -> Self {
        Self { ending, whole, all_changes: None, causes: Vec::new(), rest: None }
    }
}
