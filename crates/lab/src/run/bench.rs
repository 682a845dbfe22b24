//! The test bench: systems that are up, and one trial after the other put to them.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

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
use super::up::{self, Installed, NotStarted};
use super::{Ended, RunOptions, comparability, record};
use crate::decide;
use crate::plan::{Command, Plan};
use crate::schedule::{Block, Trial, following, pass};

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
    /// In the plan's order; or why a system has none.
    places: Vec<Result<Place<'a>, NotStarted>>,
}

impl<'a> Bench<'a> {
    /// Starts every system, and writes down what it says of itself.
    pub(crate) fn set_up(
        plan: &'a Plan,
        options: &'a RunOptions<'a>,
        installed: &'a [Installed],
        (store, run): (&'a mut Store, RunId),
        done: Done,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, RunError> {
        let systems = up::start_all(plan, options, installed, (&mut *store, run), observer)?;
        let audit = comparability::look(plan, &systems);
        store.put_audit(run, &serde_json::json!(audit))?;
        observer.observe(&Event::Audited { audit: &audit });
        if options.strict && comparability::is_serious(&audit) {
            return Err(RunError::NotComparable { audit });
        }
        let places: Vec<_> = systems.into_iter().map(|system| system.map(|up| up.place)).collect();
        let not_started: Vec<_> = places.iter().filter_map(|place| place.as_ref().err().cloned()).collect();
        let forecast = Forecast::new(plan, places.len() - not_started.len());
        let ended = Ended {
            run,
            interrupted: false,
            planned_trials: Forecast::new(plan, places.len()).trials_left(),
            completed_trials: done.count(),
            failed_trials: 0,
            not_started,
        };
        Ok(Self { plan, options, store, run, observer, forecast, done, ended, places })
    }

    /// Whether a block needs no further pass, of which it had so many.
    pub(crate) fn is_decided(&mut self, block: Block, passes: u32) -> bool {
        if passes < self.plan.trials.min() {
            return false;
        }
        let decided = decide::is_decided(self.plan, |system| {
            self.places[system].is_ok().then(|| self.done.ratios(block, self.plan.base, system))
        });
        if !decided {
            self.forecast.add(block.step, self.places.iter().flatten().count());
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
        if let Ok(place) = &mut self.places[trial.system]
            && reuse(self.plan, trial, place, self.observer).is_ok_and(|reused| reused)
        {
            self.forecast.skipped(trial.step);
            self.ended.planned_trials -= 1;
            return Ok(Some(()));
        }
        self.carry_out(trial, following)
    }

    /// Runs those trials of a block again that were disturbed, after so many passes and as often as the plan wants.
    /// Whether there were any; none if the run was stopped. Loads are not run again: their rows are there.
    pub(crate) fn rerun_disturbed(
        &mut self,
        seed: u64,
        block: Block,
        passes: u32,
    ) -> Result<Option<bool>, RunError> {
        let (plan, mut any) = (self.plan, false);
        let step = &plan.steps[block.step];
        loop {
            let is_wanted = |trial: &Trial| self.done.is_to_rerun(trial, plan.rerun_disturbed);
            let all = (0..passes).flat_map(|number| pass(plan, seed, block, number));
            let again: Vec<Trial> = all.filter(is_wanted).collect();
            if again.is_empty() || step.command == Command::Prepare {
                return Ok(Some(any));
            }
            any = true;
            self.forecast.add(block.step, again.len());
            self.ended.planned_trials += again.len();
            self.observer.observe(&Event::Rerunning { step, clients: block.clients, trials: again.len() });
            for trial in &again {
                let is_stopped = self.options.stop.load(Ordering::Relaxed);
                if is_stopped || self.carry_out(trial, following(plan, seed, trial))?.is_none() {
                    return Ok(None);
                }
            }
        }
    }

    fn carry_out(
        &mut self,
        trial: &Trial,
        following: impl Iterator<Item = Trial>,
    ) -> Result<Option<()>, RunError> {
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
        let place = match &mut places[trial.system] {
            Ok(place) => place,
            Err(NotStarted { message, log_tail, .. }) => {
                return Some(Attempt::failed(message.clone(), log_tail.clone()));
            }
        };
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
            disk_bytes_after: self.data(trial.system).and_then(|data| disk_bytes(data).ok()),
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
            self.put(trial, &companion)?;
        }
        self.put(trial, &record)?;
        let rate = record.measured.as_ref().map(dyno_store::Measured::operations_per_second);
        self.done.note(trial, rate.filter(|_| record.outcome == Outcome::Completed), &record.usage);
        if self.places[trial.system].is_ok() {
            self.forecast.ended(trial.step, began.elapsed().as_secs_f64());
        }
        self.ended.count(&record.outcome);
        self.observer.observe(&Event::TrialEnded {
            trial: label,
            outcome: &record.outcome,
            operations_per_second: rate,
            seconds_left: self.forecast.seconds_left(),
        });
        Ok(())
    }

    /// Writes down a trial, or what ran beside it.
    fn put(&mut self, trial: &Trial, record: &TrialRecord) -> Result<(), RunError> {
        if self.done.has(trial) {
            self.store.commit_rerun(self.run, record)?;
        } else {
            self.store.commit_trial(self.run, record)?;
        }
        Ok(())
    }

    /// What came of the run.
    pub(crate) fn ended(&self, interrupted: bool) -> Ended {
        Ended { interrupted, ..self.ended.clone() }
    }

    /// The folder of a system's data; none if there is none or nobody knows.
    fn data(&self, system: usize) -> Option<&Path> {
        self.places[system].as_ref().ok().and_then(Place::data)
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
