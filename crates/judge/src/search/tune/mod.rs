//! Searches for settings that are better than a base's: successive halving with comparisons, then a confirmation.

mod answer;
mod candidates;
mod halving;
mod size;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_stats::Margin;
use serde::Serialize;

use crate::search::prove::{ProbeEffect, ProbeOutcome};

pub use self::answer::{Worth, WorthVerdict};
pub use self::candidates::{ValueSet, candidates};
pub use self::size::TuneSize;

/// The error probability of a search, for its two confirmations together.
pub const TUNE_ALPHA: f64 = 0.05;

/// A comparison that a search needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TuneProbe {
    /// The base against itself.
    Control,
    /// A candidate against the base, in a stage of the search, from 0.
    Search { stage: u32, candidate: ValueSet },
    /// A confirmation: settings that the search found, against the base, in new rounds that the search did not use.
    Confirm(ValueSet),
    /// Settings that the search found, without one of them, against all of them.
    Without { all: ValueSet, setting: usize },
}

/// The next step of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum TuneStep {
    Probe(TuneProbe),
    End(Tuned),
}

/// How much longer a search may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuneReach {
    /// The search continues until it has made all its comparisons.
    Search,
    /// No more candidates are compared. The best candidate so far is confirmed.
    Answer,
    /// The search makes no further comparisons.
    Nothing,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    pub ending: TuneEnding,
    /// The base compared with itself.
    pub control: Option<ProbeEffect>,
    /// The stages in order. Each has its candidates with their effects, the best candidate first.
    pub stages: Vec<Vec<MeasuredSet>>,
    /// Whether the search ended before it had made all its comparisons.
    pub is_cut_short: bool,
    /// The best candidate of the search, with its effect in the confirmation.
    pub winner: Option<MeasuredSet>,
    /// The effect of each setting of the winner, in the order in which their removal was tried.
    pub worth: Vec<Worth>,
    /// The settings to use, with their effect in their confirmation; `None` if nothing better was found.
    pub recommended: Option<MeasuredSet>,
}

/// A set of values with its effect against the base. The effect is `None` if the server refused the set or it was
/// not compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredSet {
    pub values: ValueSet,
    pub effect: Option<ProbeEffect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TuneEnding {
    /// The confirmation showed that the recommended settings are better by more than the margin.
    Better,
    /// No candidate was better in the search, or the confirmation did not show that the best candidate is better.
    NothingBetter,
    /// The base did not complete a comparison with itself.
    BaseFailed,
    /// The search ended early, before a confirmation.
    Unfinished,
}

/// A search in progress: the comparisons that were made, with their outcomes. The outcomes determine the next
/// comparison, so an interrupted search continues where it stopped.
///
/// The base is compared with itself, which shows the noise. Then [`halve`](Self::halve) searches for the best
/// candidate, which is [confirmed](Self::answer) in separate rounds. Only the confirmation gives a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    candidates: Vec<ValueSet>,
    size: TuneSize,
    /// Differences below this margin do not matter.
    margin: Margin,
    known: BTreeMap<TuneProbe, ProbeOutcome>,
}

/// A computation that stops when it needs the outcome of another comparison.
type OrProbe<T> = Result<T, TuneProbe>;

impl Tuning {
    pub fn new(candidates: Vec<ValueSet>, size: TuneSize, margin: Margin) -> Self {
        Self { candidates, size, margin, known: BTreeMap::new() }
    }

    pub fn candidates(&self) -> &[ValueSet] {
        &self.candidates
    }

    /// Replaces the candidates, before any of them was compared.
    pub fn set_candidates(&mut self, candidates: Vec<ValueSet>) {
        self.candidates = candidates;
    }

    /// Records the outcome of a comparison.
    pub fn note(&mut self, probe: TuneProbe, outcome: ProbeOutcome) {
        self.known.insert(probe, outcome);
    }

    pub fn next_step(&self, reach: TuneReach) -> TuneStep {
        match self.replay(reach) {
            Ok(tuned) => TuneStep::End(tuned),
            Err(probe) => TuneStep::Probe(probe),
        }
    }

    /// The result from the comparisons so far.
    pub fn so_far(&self) -> Tuned {
        self.replay(TuneReach::Nothing).unwrap_or_else(|_| Tuned::ended(TuneEnding::Unfinished, None))
    }

    /// The candidate that would be confirmed if the search ended now.
    pub fn leader(&self) -> Option<ValueSet> {
        self.so_far().winner.map(|winner| winner.values)
    }

    /// Rounds of a comparison.
    pub fn rounds(&self, probe: &TuneProbe) -> u32 {
        self.size.rounds(probe)
    }

    /// The error probability of a comparison.
    pub fn alpha(probe: &TuneProbe) -> f64 {
        match probe {
            // There are up to two confirmations. The first is of the best settings of the search. The second is of the
            // settings that remain after settings without effect are removed.
            TuneProbe::Confirm(_) => TUNE_ALPHA / 2.0,
            TuneProbe::Control | TuneProbe::Search { .. } | TuneProbe::Without { .. } => TUNE_ALPHA,
        }
    }

    /// The effect of a comparison; `None` if the server refused it. If the outcome is not known yet and `is_wanted` is
    /// set, this asks for the comparison. If `is_wanted` is not set, the effect is `None`.
    fn effect(&self, probe: TuneProbe, is_wanted: bool) -> OrProbe<Option<ProbeEffect>> {
        match self.known.get(&probe) {
            Some(ProbeOutcome::Measured(effect)) => Ok(Some(*effect)),
            None if is_wanted => Err(probe),
            Some(ProbeOutcome::Refused) | None => Ok(None),
        }
    }

    /// Replays the search with the known outcomes, up to the first unknown one.
    fn replay(&self, reach: TuneReach) -> OrProbe<Tuned> {
        let control = self.effect(TuneProbe::Control, reach != TuneReach::Nothing)?;
        if control.is_none() {
            let was_tried = self.known.contains_key(&TuneProbe::Control);
            let ending = if was_tried { TuneEnding::BaseFailed } else { TuneEnding::Unfinished };
            return Ok(Tuned::ended(ending, None));
        }
        let halved = self.halve(reach == TuneReach::Search)?;
        let tuned = Tuned {
            stages: halved.stages,
            is_cut_short: halved.is_cut_short,
            ..Tuned::ended(TuneEnding::NothingBetter, control)
        };
        match halved.best {
            Some(best) => self.answer(best, tuned, reach != TuneReach::Nothing),
            None if tuned.is_cut_short => Ok(Tuned { ending: TuneEnding::Unfinished, ..tuned }),
            None => Ok(tuned),
        }
    }
}

impl Tuned {
    fn ended(ending: TuneEnding, control: Option<ProbeEffect>) -> Self {
        Self {
            ending,
            control,
            stages: Vec::new(),
            is_cut_short: false,
            winner: None,
            worth: Vec::new(),
            recommended: None,
        }
    }
}
