//! Proves which changes make a difference between two systems, by taking them apart: delta debugging with a judged
//! comparison as its test.

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
    /// The candidate as it was.
    Whole,
    /// The base with some of the changes, by their indices, ascending.
    Changes(Vec<usize>),
}

/// How many rounds a probe takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeLength {
    /// As many as the noise of the first probe requires.
    Usual,
    /// More, because the usual number did not decide. A probe of this length is not repeated.
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
    /// Number of changes that may make the difference. They are in the order of the evidence for them.
    pub changes: usize,
    /// Number of them, from the first on, that have evidence.
    pub suspects: usize,
    /// Whether the candidate is the base with all changes. Otherwise something else differs too.
    pub is_all: bool,
    /// The ratio to explain.
    pub ratio: f64,
    /// The least difference that matters.
    pub margin: Margin,
}

/// The next step of a proof.
#[derive(Clone, Debug, PartialEq)]
pub enum ProofStep {
    /// The probe to make next. It may be a repetition of one that decided nothing.
    Probe(Probe, ProbeLength),
    End(Proof),
}

/// What was proven.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// How the search ended.
    pub ending: ProofEnding,
    /// The difference when it was repeated.
    pub whole: Option<ProbeEffect>,
    /// The effect of all changes on the base. It is measured if something else differs too, or if the stated
    /// changes turn out not to make the candidate's difference.
    pub all_changes: Option<ProbeEffect>,
    /// Sets of changes that make the difference, in the order in which they were found.
    pub causes: Vec<Cause>,
    /// The effect of all other changes together.
    pub rest: Option<ProbeEffect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofEnding {
    /// The causes make the difference: less than a fifth of it remains without them, or nothing else differs.
    Proven,
    /// Without the causes that were found, a part of the difference remains, and its causes were not found.
    Partly,
    /// The search ended before the causes were narrowed to the fewest changes.
    NotNarrowed,
    /// The difference was not found again when it was repeated.
    Gone,
    /// It is undecided whether the repeated candidate shows the difference, or whether all changes together
    /// make it.
    Undecided,
    /// The candidate did not start when it was repeated.
    Refused,
    /// All changes together do not make the difference.
    NotTheChanges,
    /// Nothing was compared yet.
    Unfinished,
}

/// Changes that make a difference together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// Indices of the changes, ascending.
    pub changes: Vec<usize>,
    /// Whether each change is necessary: without any one of them, the others do not show the difference, or
    /// the server refuses them.
    pub is_smallest: bool,
    pub together: Option<ProbeEffect>,
    /// The effect of each change alone, if there are several; `None` if it was not measured.
    pub alone: Vec<Option<ProbeEffect>>,
    /// How the effects of the single changes relate to that of all together; `None` for a single change, and
    /// for changes that were not narrowed.
    pub relation: Option<Relation>,
    /// The effect of all other changes, without this cause and those before it; `None` if there are no
    /// others, or it was not measured.
    pub without: Option<ProbeEffect>,
    /// How it and the remaining changes make what was to be explained.
    pub relation_to_rest: Option<Relation>,
}

/// A proof in progress: the probes that were made, with their outcomes. They alone determine the next probe,
/// so an interrupted proof continues where it stopped.
///
/// First the difference is repeated, because without it there is nothing to explain. Then
/// [`narrow`](Self::narrow) looks for the fewest changes that show at least two fifths of it. If the
/// remaining changes make a fifth of the difference or more, they are explained in the same way. A probe that
/// decides nothing is repeated with more rounds, and then only the second outcome counts. There are at most
/// [`probes_max`](Self::probes_max) probes, including repeated ones, so each may use that part of the total
/// error (Bonferroni).
#[derive(Clone, Debug, PartialEq)]
pub struct Proving {
    question: ProofQuestion,
    known: BTreeMap<Probe, (ProbeOutcome, ProbeLength)>,
    /// Number of probes that were made.
    made: usize,
}

/// Whether more probes may be asked for.
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
    /// repeated. Two changes that only act together take about twice that.
    pub fn probes_max(&self) -> usize {
        let halvings = self.question.changes.next_power_of_two().ilog2() as usize;
        4 * halvings + 9
    }

    /// Records the outcome of a probe of this length. If a measured probe fails when it is repeated, its
    /// earlier outcome remains.
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

    /// The effect of a probe; `None` if it was refused, or is not known and no probe is left.
    fn effect(&self, probe: &Probe, supply: Supply) -> OrProbe<Option<ProbeEffect>> {
        match self.known.get(probe) {
            Some((ProbeOutcome::Measured(effect), _)) => Ok(Some(*effect)),
            Some((ProbeOutcome::Refused, _)) => Ok(None),
            None if supply == Supply::Spent => Ok(None),
            None => Err((probe.clone(), ProbeLength::Usual)),
        }
    }

    /// Asks for a measured probe again if it decided nothing, unless it already had more rounds.
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

    /// Whether these changes are all known differences. If so, the candidate shows their effect, unless
    /// something unstated differs.
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

    /// The ending of a search in which all changes on the base are not known to make a difference.
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
