//! The report of a search.

use dyno_judge::{ProbeEffect, TUNE_ALPHA, TuneProbe, ValueSet};
use dyno_report::{Recommendation, TuneReport};
use dyno_stats::Margin;

use super::TuneInMaking;
use super::space::Space;

impl TuneInMaking<'_> {
    pub(super) fn report(&self) -> TuneReport {
        let system = &self.plan.systems[self.system];
        let steps = self.plan.steps.iter().filter(|step| self.tests.contains(&step.id));
        let mut clients: Vec<u32> = steps.flat_map(|step| step.clients.clone()).collect();
        clients.sort_unstable();
        clients.dedup();
        let tuned = self.tuning.so_far();
        let recommended = tuned.recommended.as_ref();
        TuneReport {
            plan: self.name.clone(),
            system: system.id.clone(),
            engine: system.source.name(),
            steps: self.tests.clone(),
            clients,
            memory_bytes: self.room.memory_bytes,
            settings: self.space.as_ref().map(Space::tried).unwrap_or_default(),
            left_out: self.space.as_ref().map(Space::left_out).unwrap_or_default(),
            candidates: self.tuning.candidates().len(),
            margin: Margin::least(),
            alpha: TUNE_ALPHA,
            recommendation: recommended.and_then(|it| self.recommendation(&it.values, it.effect)),
            tuned,
            comparisons: self.made.clone(),
        }
    }

    fn recommendation(&self, values: &ValueSet, effect: Option<ProbeEffect>) -> Option<Recommendation> {
        let space = self.space.as_ref()?;
        let (_, [promise_of_base, promise]) =
            self.promises.iter().rfind(|(known, _)| known == values)?.clone();
        let question = self.question(&TuneProbe::Control);
        let plan = self.changed(&space.changes(values), 1, question);
        Some(Recommendation {
            settings: plan.systems[1].settings.clone(),
            changed: space.changes(values).into_keys().collect(),
            effect,
            promise_of_base,
            promise,
            gives_up: space.given_up(values),
        })
    }
}
