//! The comparisons of a search as plans, and in words.

use dyno_judge::{TuneProbe, ValueSet};
use dyno_lab::{Changes, Plan, Probed};

use super::{SEED, Session};
use crate::commands::made::TEXTS_OF_TUNING;

impl Session<'_> {
    pub(super) fn changes(&self, values: &ValueSet) -> Changes {
        self.space.as_ref().map(|space| space.changes(values)).unwrap_or_default()
    }

    pub(super) fn plan_of(&self, probe: &TuneProbe) -> Plan {
        let rounds = self.tuning.rounds(probe);
        // The text of its plan tells a comparison from every other.
        let about = self.about(probe, rounds);
        match probe {
            TuneProbe::Control => {
                self.plan.probe(self.system, Probed::Changed(&Changes::new()), rounds, &about)
            }
            TuneProbe::Search { candidate: values, .. } | TuneProbe::Confirm(values) => {
                self.plan.probe(self.system, Probed::Changed(&self.changes(values)), rounds, &about)
            }
            TuneProbe::Without { all, setting } => {
                let (all, fewer) = (self.changes(all), self.changes(&all.without(*setting)));
                self.plan.probe_of_changes(self.system, ("tuned", &all), &fewer, rounds, &about)
            }
        }
    }

    fn about(&self, probe: &TuneProbe, rounds: u32) -> String {
        let steps = self.plan.steps.iter().filter(|step| self.tests.contains(&step.id));
        let steps: Vec<String> = steps
            .map(|step| format!("{} at {:?} clients for {} s", step.id, step.clients, step.seconds))
            .collect();
        let of_search = match probe {
            // A search of another size is another question, with an answer of its own.
            TuneProbe::Confirm(_) | TuneProbe::Without { .. } => {
                let budget = self.asked.budget.map_or(String::new(), |budget| format!(" within {budget:?}"));
                format!(
                    ", after {} candidates of seed {}{budget}",
                    self.tuning.candidates().len(),
                    self.seed()
                )
            }
            TuneProbe::Control | TuneProbe::Search { .. } => String::new(),
        };
        let about = format!(
            "{TEXTS_OF_TUNING} {} at scale {}, {}: {}, {rounds} rounds{of_search}",
            self.name,
            self.plan.scale,
            steps.join(", "),
            self.in_words(probe)
        );
        about.replace('\n', " ")
    }

    pub(super) fn seed(&self) -> u64 {
        self.asked.flags.seed.unwrap_or(SEED)
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
