//! The plans of a search's comparisons, and their descriptions in words.

use dyno_judge::{TuneProbe, ValueSet};
use dyno_lab::{Changes, Plan, Probed};
use dyno_store::{SearchQuestion, SearchSize};

use super::TuneInMaking;

impl TuneInMaking<'_> {
    pub(super) fn changes(&self, values: &ValueSet) -> Changes {
        self.space.as_ref().map(|space| space.changes(values)).unwrap_or_default()
    }

    pub(super) fn plan_of(&self, probe: &TuneProbe) -> Plan {
        let (rounds, question) = (self.tuning.rounds(probe), self.question(probe));
        match probe {
            TuneProbe::Control => self.changed(&Changes::new(), rounds, question),
            TuneProbe::Search { candidate: values, .. } | TuneProbe::Confirm(values) => {
                self.changed(&self.changes(values), rounds, question)
            }
            TuneProbe::Without { all, setting } => {
                let (all, fewer) = (self.changes(all), self.changes(&all.without(*setting)));
                self.plan.probe_of_changes(self.system, ("tuned", &all), &fewer, rounds, question)
            }
        }
    }

    /// A plan that compares the system with a changed copy of itself.
    pub(super) fn changed(&self, changes: &Changes, rounds: u32, question: SearchQuestion) -> Plan {
        self.plan.probe(self.system, Probed::Changed(changes), rounds, question)
    }

    /// Returns the question that identifies a comparison. A search with another number of candidates, another seed or
    /// another budget can reuse the comparisons before the confirmation. Such a search cannot reuse the confirmation
    /// and the later comparisons.
    pub(super) fn question(&self, probe: &TuneProbe) -> SearchQuestion {
        let stage = match probe {
            TuneProbe::Search { stage, .. } => Some(*stage),
            TuneProbe::Control | TuneProbe::Confirm(_) | TuneProbe::Without { .. } => None,
        };
        let is_after_search = matches!(probe, TuneProbe::Confirm(_) | TuneProbe::Without { .. });
        let size = is_after_search.then(|| SearchSize {
            candidates: self.tuning.candidates().len(),
            seed: self.seed,
            budget_seconds: self.asked.budget.map(|budget| budget.as_secs()),
        });
        SearchQuestion::Tuning { tests: self.tests.clone(), stage, size }
    }

    pub(super) fn id(&self) -> &str {
        &self.plan.systems[self.system].id
    }

    pub(super) fn in_words(&self, probe: &TuneProbe) -> String {
        let words =
            |values: &ValueSet| self.space.as_ref().map_or(String::new(), |space| space.in_words(values));
        let id = self.id();
        match probe {
            TuneProbe::Control => format!("{id} with itself"),
            TuneProbe::Search { stage, candidate } => {
                format!("{id} with itself under {}, stage {}", words(candidate), stage + 1)
            }
            TuneProbe::Confirm(values) => format!("{id} with itself under {}, to confirm it", words(values)),
            TuneProbe::Without { all, setting } => {
                format!("{id} under {} with it without {}", words(all), words(&all.only(*setting)))
            }
        }
    }
}
