//! The test bench: systems that are up, and one trial after the other put to them.

use std::sync::atomic::Ordering;
use std::time::Instant;

use dyno_engine::Installation;
use dyno_host::disk_bytes;
use dyno_store::{Outcome, RunId, Store, SystemRecord, TrialRecord};

use super::attempt::attempt;
use super::error::RunError;
use super::forecast::Forecast;
use super::observer::{Event, Observer, TrialLabel};
use super::place::Place;
use super::subject;
use super::{RunOptions, record};
use crate::plan::Plan;
use crate::schedule::Trial;

/// Everything that a run needs while it measures. Dropping it ends the systems and removes their data.
pub(crate) struct Bench<'a> {
    plan: &'a Plan,
    options: &'a RunOptions<'a>,
    store: &'a mut Store,
    run: RunId,
    observer: &'a mut dyn Observer,
    forecast: Forecast,
    trials: &'a [Trial],
    /// In the plan's order.
    places: Vec<Place>,
}

impl<'a> Bench<'a> {
    /// Starts every system, and writes down what it says of itself.
    pub(crate) fn set_up(
        plan: &'a Plan,
        trials: &'a [Trial],
        options: &'a RunOptions<'a>,
        installations: &[Option<Installation>],
        (store, run): (&'a mut Store, RunId),
        observer: &'a mut dyn Observer,
    ) -> Result<Self, RunError> {
        for position in 0..plan.steps.len() {
            store.add_step(run, &record::step(plan, position))?;
        }
        let mut places = Vec::new();
        for (position, (system, installation)) in plan.systems.iter().zip(installations).enumerate() {
            let known = record::system(plan, position);
            store.put_system(run, &known)?;
            observer.observe(&Event::Starting { system: &system.id });
            let failed = |source| RunError::Start { system: system.id.clone(), source };
            let subject = subject::start(system, installation.as_ref(), &options.cache).map_err(failed)?;
            let (version, variables) = (subject.version(), subject.variables().map_err(failed)?);
            store.put_system(run, &SystemRecord { engine_version: Some(version), variables, ..known })?;
            places.push(Place::new(subject));
        }
        let forecast = Forecast::new(plan, trials);
        Ok(Self { plan, options, store, run, observer, forecast, trials, places })
    }

    /// Carries out the trial at a place in the order, and commits it; none if the run was stopped meanwhile.
    pub(crate) fn trial(&mut self, position: usize) -> Result<Option<Outcome>, RunError> {
        if self.options.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let trial = &self.trials[position];
        let label = self.label(position);
        let (began, started_at_ms) = (Instant::now(), record::now_ms());
        let seconds_left = self.forecast.seconds_left(position, 0.0);
        self.observer.observe(&Event::TrialStarted { trial: label, seconds_left });

        let Self { plan, options, forecast, observer, places, .. } = self;
        let place = &mut places[trial.system];
        let ticked = |operations_per_second| {
            let seconds_left = forecast.seconds_left(position, began.elapsed().as_secs_f64());
            observer.observe(&Event::Ticked { trial: label, operations_per_second, seconds_left });
        };
        let Some(attempt) = attempt(plan, trial, options, place, ticked) else { return Ok(None) };
        let disk_bytes_after = disk_bytes(place.data()).ok();

        let record = TrialRecord {
            system_id: label.system.to_owned(),
            step_id: label.step.id.clone(),
            clients: trial.clients,
            trial: trial.number,
            position: position as u32,
            started_at_ms,
            outcome: attempt.outcome,
            measured: attempt.measured,
            usage: attempt.usage,
            disk_bytes_after,
            samples: attempt.samples,
            ..TrialRecord::default()
        };
        self.store.commit_trial(self.run, &record)?;
        self.forecast.ended(position, began.elapsed().as_secs_f64());
        self.observer.observe(&Event::TrialEnded {
            trial: label,
            outcome: &record.outcome,
            operations_per_second: record.measured.map(|m| m.counts.operations as f64 / m.seconds),
            seconds_left: self.forecast.seconds_left(position + 1, 0.0),
        });
        Ok(Some(record.outcome))
    }

    fn label(&self, position: usize) -> TrialLabel<'a> {
        let trial = &self.trials[position];
        TrialLabel {
            position,
            of: self.trials.len(),
            system: &self.plan.systems[trial.system].id,
            step: &self.plan.steps[trial.step],
            clients: trial.clients,
            number: trial.number,
        }
    }
}
