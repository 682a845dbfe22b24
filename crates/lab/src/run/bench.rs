//! The test bench: systems that are up, and one trial after the other put to them.

use std::sync::atomic::Ordering;
use std::time::Instant;

use dyno_engine::Installation;
use dyno_host::disk_bytes;
use dyno_store::{Outcome, RunId, Store, TrialRecord};

use super::attempt::{Attempt, Order, attempt};
use super::between::{between, drain, loaded, reuse};
use super::done::Done;
use super::drive::Cut;
use super::error::RunError;
use super::forecast::Forecast;
use super::observer::{Event, Observer, TrialLabel};
use super::place::Place;
use super::subject::Starter;
use super::{Ended, RunOptions, comparability, record};
use crate::decide;
use crate::plan::{Command, Plan};
use crate::records;
use crate::schedule::{Block, Trial};

/// How many of the next trials are told.
const NEXT_MAX: usize = 5;

/// Everything that a run needs while it measures. Dropping it ends the systems and removes their data.
pub(crate) struct Bench<'a> {
    plan: &'a Plan,
    options: &'a RunOptions<'a>,
    store: &'a mut Store,
    run: RunId,
    observer: &'a mut dyn Observer,
    forecast: Forecast,
    done: Done,
    ended: Ended,
    /// In the plan's order.
    places: Vec<Place<'a>>,
}

impl<'a> Bench<'a> {
    /// Starts every system, and writes down what it says of itself.
    pub(crate) fn set_up(
        plan: &'a Plan,
        options: &'a RunOptions<'a>,
        installations: &'a [Option<Installation>],
        (store, run): (&'a mut Store, RunId),
        done: Done,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, RunError> {
        let (mut places, mut all_variables) = (Vec::new(), Vec::new());
        for (position, (system, installation)) in plan.systems.iter().zip(installations).enumerate() {
            observer.observe(&Event::Starting { system: &system.id });
            let failed = |source| RunError::Start { system: system.id.clone(), source };
            let starter = Starter { system, installation: installation.as_ref(), cache: &options.cache };
            let subject = starter.start(None).map_err(failed)?;
            let (version, variables) = (subject.version(), subject.variables().map_err(failed)?);
            let mut known = records::system(plan, position);
            known.engine_version = Some(version);
            known.variables.clone_from(&variables);
            store.put_system(run, &known)?;
            all_variables.push(variables);
            places.push(Place::new(starter, subject));
        }
        let audit = comparability::look(plan, &places, &all_variables);
        store.put_audit(run, &serde_json::json!(audit))?;
        observer.observe(&Event::Audited { audit: &audit });
        if options.strict && comparability::is_serious(&audit) {
            return Err(RunError::NotComparable { audit });
        }
        let forecast = Forecast::new(plan);
        let ended = Ended {
            run,
            interrupted: false,
            planned_trials: forecast.trials_left(),
            completed_trials: done.count(),
            failed_trials: 0,
        };
        Ok(Self { plan, options, store, run, observer, forecast, done, ended, places })
    }

    /// Whether a block needs no further pass, of which it had so many.
    pub(crate) fn is_decided(&mut self, block: Block, passes: u32) -> bool {
        if passes < self.plan.trials.min() {
            return false;
        }
        let decided = decide::is_decided(self.plan, |system| self.done.ratios(block, self.plan.base, system));
        if !decided {
            self.forecast.add(block.step, self.plan.systems.len());
            self.ended.planned_trials += self.plan.systems.len();
        }
        decided
    }

    /// Carries out a trial, and commits it; none if the run was stopped meanwhile. One that an earlier session of
    /// the run completed is left out, and a load of data that was kept. `following` are those after it, in order.
    pub(crate) fn trial(
        &mut self,
        trial: &Trial,
        following: impl Iterator<Item = Trial>,
    ) -> Result<Option<()>, RunError> {
        if self.options.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if self.done.has(trial) {
            self.forecast.skipped(trial.step);
            return Ok(Some(()));
        }
        // If the data could not be put back, the system is lost and its trial says so.
        if reuse(self.plan, trial, &mut self.places[trial.system], self.observer).is_ok_and(|reused| reused) {
            self.forecast.skipped(trial.step);
            self.ended.planned_trials -= 1;
            return Ok(Some(()));
        }
        let label = self.label(trial);
        let (began, started_at_ms) = (Instant::now(), record::now_ms());
        let seconds_left = self.forecast.seconds_left();
        let next = self.next(label.position, following);
        self.observer.observe(&Event::TrialStarted { trial: label, next: &next, seconds_left });
        let Some(attempt) = self.attempt(trial, label, began) else { return Ok(None) };
        self.commit(trial, attempt, started_at_ms, began, label)?;
        Ok(Some(()))
    }

    fn attempt(&mut self, trial: &Trial, label: TrialLabel<'_>, began: Instant) -> Option<Attempt> {
        let Self { plan, options, forecast, observer, places, .. } = self;
        let place = &mut places[trial.system];
        match between(plan, trial, options, place, *observer) {
            Ok(()) => {}
            Err(Cut::Stopped) => return None,
            Err(Cut::Failed { message, .. }) => return Some(Attempt::failed(message, place.log_tail())),
            Err(Cut::Hung(_)) => {
                let log_tail = place.examine(true).log_tail;
                return Some(Attempt::failed("loading its tables hung".to_owned(), log_tail));
            }
        }
        let ticked = |pace| {
            let seconds_left = forecast.seconds_left_during(trial.step, began.elapsed().as_secs_f64());
            observer.observe(&Event::Ticked { trial: label, pace, seconds_left });
        };
        let mut attempt = attempt(Order { plan, trial, options }, place, ticked)?;
        let succeeded = attempt.outcome == Outcome::Completed;
        if plan.steps[trial.step].drain && succeeded {
            attempt.drain = drain(place, label, options, *observer);
        }
        if plan.steps[trial.step].command == Command::Prepare {
            loaded(plan, trial, succeeded, place, *observer);
        }
        Some(attempt)
    }

    fn commit(
        &mut self,
        trial: &Trial,
        attempt: Attempt,
        started_at_ms: i64,
        began: Instant,
        label: TrialLabel<'_>,
    ) -> Result<(), RunError> {
        let Attempt { outcome, recorded, backlog, error_codes, beside, drain } = attempt;
        let record = TrialRecord {
            system_id: label.system.to_owned(),
            step_id: label.step.id.clone(),
            clients: trial.clients,
            trial: trial.number,
            position: self.done.next_position(),
            started_at_ms,
            outcome,
            measured: recorded.measured,
            usage: recorded.usage,
            disk_bytes_after: self.places[trial.system].data().and_then(|data| disk_bytes(data).ok()),
            samples: recorded.samples,
            backlog,
            error_codes,
            drain,
            counters: recorded.counters,
        };
        // Those beside first: a trial counts as done once its own record is there.
        for (step_id, attempt) in beside {
            let companion = TrialRecord {
                step_id,
                outcome: attempt.outcome,
                measured: attempt.recorded.measured,
                usage: attempt.recorded.usage,
                samples: attempt.recorded.samples,
                backlog: None,
                error_codes: attempt.error_codes,
                drain: None,
                counters: Vec::new(),
                ..record.clone()
            };
            self.store.commit_trial(self.run, &companion)?;
        }
        self.store.commit_trial(self.run, &record)?;
        let rate = record.measured.as_ref().map(dyno_store::Measured::operations_per_second);
        self.done.note(trial, rate.filter(|_| record.outcome == Outcome::Completed));
        self.forecast.ended(trial.step, began.elapsed().as_secs_f64());
        self.ended.count(&record.outcome);
        self.observer.observe(&Event::TrialEnded {
            trial: label,
            outcome: &record.outcome,
            operations_per_second: rate,
            seconds_left: self.forecast.seconds_left(),
        });
        Ok(())
    }

    /// What came of the run.
    pub(crate) fn ended(&self, interrupted: bool) -> Ended {
        Ended { interrupted, ..self.ended }
    }

    /// The first of these that are still to be made, after a trial at this position.
    fn next(&self, position: usize, following: impl Iterator<Item = Trial>) -> Vec<TrialLabel<'a>> {
        let open = following.filter(|trial| !self.done.has(trial)).take(NEXT_MAX);
        open.zip(position + 1..)
            .map(|(trial, position)| TrialLabel { position, ..self.label(&trial) })
            .collect()
    }

    fn label(&self, trial: &Trial) -> TrialLabel<'a> {
        TrialLabel {
            position: self.ended.completed_trials + self.ended.failed_trials,
            of: self.ended.planned_trials,
            system: &self.plan.systems[trial.system].id,
            step: &self.plan.steps[trial.step],
            clients: trial.clients,
            number: trial.number,
        }
    }
}
