//! One block: all systems of a round in one step at one number of clients.

use dyno_judge::{Limits, disturbance};
use dyno_store::{Measured, Outcome, TrialRecord};

use super::attempt::{Attempt, Order, attempt};
use super::between::{between, drain, loaded, put_back};
use super::drive::Cut;
use super::error::RunError;
use super::instances::NotStarted;
use super::observer::{Event, TrialLabel};
use super::record;
use super::round::{Round, record_of};
use super::session::Session;
use crate::plan::{Command, Slicing};
use crate::schedule::{Block, Trial, blocks, trials};

/// How many of the next trials are told.
const NEXT_MAX: usize = 5;

/// What came of the trials of a block, with the time at which each began.
pub(crate) type Attempts = Vec<(Trial, Attempt, i64)>;

impl<'a> Session<'a> {
    /// Carries out a block and commits its trials; none if the run was stopped meanwhile. A block that was disturbed is
    /// run again as often as the plan wants.
    pub(crate) fn block(&mut self, round: &mut Round<'a>, block: Block) -> Result<Option<()>, RunError> {
        let plan = self.plan;
        let step = &plan.steps[block.step];
        if step.command == Command::Prepare {
            return self.load(round, block);
        }
        for run in 0..=plan.rerun_disturbed {
            let is_rerun = run > 0;
            let Some(is_disturbed) = self.run_once(round, block, is_rerun)? else { return Ok(None) };
            if !is_disturbed || run == plan.rerun_disturbed {
                break;
            }
            self.ended.planned_trials += plan.systems.len();
            self.observer.observe(&Event::Rerunning { step, clients: block.clients });
        }
        Ok(Some(()))
    }

    /// Whether the block was disturbed; none if the run was stopped meanwhile.
    fn run_once(
        &mut self,
        round: &mut Round<'a>,
        block: Block,
        is_rerun: bool,
    ) -> Result<Option<bool>, RunError> {
        let mut is_disturbed = false;
        if self.is_sliced(block) {
            let Ok(attempts) = self.slices(round, block) else { return Ok(None) };
            if let Some(attempts) = attempts {
                for (trial, attempt, started_at_ms) in attempts {
                    is_disturbed |= was_disturbed(&attempt);
                    self.commit(round, &trial, attempt, started_at_ms, is_rerun)?;
                }
                return Ok(Some(is_disturbed));
            }
        }
        for trial in trials(self.plan, self.seed, block, round.number) {
            let Some(attempt_disturbed) = self.whole_trial(round, &trial, is_rerun)? else { return Ok(None) };
            is_disturbed |= attempt_disturbed;
        }
        Ok(Some(is_disturbed))
    }

    fn is_sliced(&self, block: Block) -> bool {
        let known = self.interleavings.get(&block.number);
        self.plan.steps[block.step].slicing != Slicing::Whole && known.is_none_or(Option::is_some)
    }

    /// Loads tables and measures that, or puts back what an earlier round has loaded; none if the run was stopped.
    fn load(&mut self, round: &mut Round<'a>, block: Block) -> Result<Option<()>, RunError> {
        let plan = self.plan;
        let is_measured = plan.load_every_round || round.number == self.load_round;
        for trial in trials(plan, self.seed, block, round.number) {
            if (plan.reuse_data || !is_measured)
                && let Ok(place) = &mut round.places[trial.system]
                && put_back(plan, &trial, place, self.observer)
            {
                self.ended.planned_trials -= usize::from(is_measured);
                continue;
            }
            // Tables that could not be kept are loaded again, unmeasured, before a step that needs them.
            if is_measured && self.whole_trial(round, &trial, false)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// A trial in one stretch, committed; whether it was disturbed. None if the run was stopped meanwhile.
    fn whole_trial(
        &mut self,
        round: &mut Round<'a>,
        trial: &Trial,
        is_rerun: bool,
    ) -> Result<Option<bool>, RunError> {
        if self.is_stopped() {
            return Ok(None);
        }
        let started_at_ms = record::now_ms();
        let (label, seconds_left) = (self.label(trial), self.seconds_left());
        let next = self.next(trial, label.position);
        self.observer.observe(&Event::TrialStarted { trial: label, next: &next, seconds_left });
        let Some(attempt) = self.attempt(round, trial, label) else { return Ok(None) };
        let is_disturbed = was_disturbed(&attempt);
        self.commit(round, trial, attempt, started_at_ms, is_rerun)?;
        Ok(Some(is_disturbed))
    }

    fn attempt(&mut self, round: &mut Round<'a>, trial: &Trial, label: TrialLabel<'_>) -> Option<Attempt> {
        if let Err(failure) = self.make_ready(round, trial)? {
            return Some(failure);
        }
        let seconds = self.seconds_of(trial.step);
        let Self { plan, options, forecast, observer, round_began, .. } = self;
        let place = round.places[trial.system].as_mut().ok()?;
        let ticked = |pace| {
            let seconds_left = forecast.seconds_left(round_began.elapsed().as_secs_f64());
            observer.observe(&Event::Ticked { trial: label, pace, seconds_left });
        };
        let order = Order { plan, trial, options, seconds };
        let mut attempt = attempt(order, place, ticked)?;
        self.after(round, trial, &mut attempt);
        Some(attempt)
    }

    /// Has a system ready for a trial, or tells what the trial fails with; none if the run was stopped meanwhile.
    pub(crate) fn make_ready(&mut self, round: &mut Round<'a>, trial: &Trial) -> Option<Result<(), Attempt>> {
        let place = match &mut round.places[trial.system] {
            Ok(place) => place,
            Err(NotStarted { message, log_tail, .. }) => {
                return Some(Err(Attempt::failed(message.clone(), log_tail.clone())));
            }
        };
        let warmed_before = place.instance.warm_seconds;
        let ready = between(self.plan, trial, self.options, place, self.observer);
        if place.instance.warm_seconds.to_bits() != warmed_before.to_bits() {
            // That it cannot be written is told by the trial's own commit.
            let _ = self.store.put_instance(self.run, &place.instance);
        }
        Some(match ready {
            Ok(()) => Ok(()),
            Err(Cut::Stopped) => return None,
            Err(Cut::Failed { message, .. }) => Err(Attempt::failed(message, place.log_tail())),
            Err(Cut::Hung(_)) => {
                Err(Attempt::failed("loading its tables hung".to_owned(), place.examine(true).log_tail))
            }
        })
    }

    /// What follows a trial's load: pending writes are waited for, loaded data is kept.
    pub(crate) fn after(&mut self, round: &mut Round<'a>, trial: &Trial, attempt: &mut Attempt) {
        let Self { plan, options, observer, .. } = self;
        let Ok(place) = &mut round.places[trial.system] else { return };
        let step = &plan.steps[trial.step];
        let succeeded = attempt.outcome == Outcome::Completed;
        if step.drain && succeeded {
            attempt.drain = drain(place, &plan.systems[trial.system].id, options, *observer);
        }
        if step.command == Command::Prepare {
            loaded(plan, trial, succeeded, place, *observer);
        }
    }

    /// Writes down a trial and what ran beside it.
    fn commit(
        &mut self,
        round: &Round<'_>,
        trial: &Trial,
        attempt: Attempt,
        started_at_ms: i64,
        is_rerun: bool,
    ) -> Result<(), RunError> {
        let label = self.label(trial);
        let Attempt { outcome, recorded, backlog, error_codes, beside, drain } = attempt;
        let record = TrialRecord {
            position: self.next_position,
            started_at_ms,
            outcome,
            measured: recorded.measured,
            usage: recorded.usage,
            rest_cpu_us: recorded.rest_cpu_us,
            lead_seconds: recorded.lead_seconds,
            slices: recorded.slices,
            disk_bytes_after: round.disk_bytes(trial.system),
            samples: recorded.samples,
            backlog,
            error_codes,
            drain,
            counters: recorded.counters,
            ..record_of(label.system, &label.step.id, trial.clients, trial.round)
        };
        self.next_position += 1;
        // Those beside first: a trial counts as done once its own record is there.
        for (step_id, attempt) in beside {
            let companion = TrialRecord {
                outcome: attempt.outcome,
                position: record.position,
                started_at_ms,
                measured: attempt.recorded.measured,
                usage: attempt.recorded.usage,
                samples: attempt.recorded.samples,
                error_codes: attempt.error_codes,
                disk_bytes_after: record.disk_bytes_after,
                ..record_of(label.system, &step_id, trial.clients, trial.round)
            };
            self.put(&companion, is_rerun)?;
        }
        self.put(&record, is_rerun)?;
        self.ended.count(&record.outcome);
        self.observer.observe(&Event::TrialEnded {
            trial: label,
            outcome: &record.outcome,
            operations_per_second: record.measured.as_ref().map(Measured::operations_per_second),
            seconds_left: self.seconds_left(),
        });
        Ok(())
    }

    fn put(&mut self, record: &TrialRecord, is_rerun: bool) -> Result<(), RunError> {
        if is_rerun {
            self.store.commit_rerun(self.run, record)?;
        } else {
            self.store.commit_trial(self.run, record)?;
        }
        Ok(())
    }

    /// The trials after one, as far as is known.
    pub(crate) fn next(&self, of: &Trial, position: usize) -> Vec<TrialLabel<'a>> {
        let (plan, seed, of) = (self.plan, self.seed, *of);
        let here = move |block: &Block| (block.step, block.clients) == (of.step, of.clients);
        let following = blocks(plan)
            .into_iter()
            .skip_while(move |block| !here(block))
            .flat_map(move |block| trials(plan, seed, block, of.round))
            .skip_while(move |trial| *trial != of)
            .skip(1)
            .take(NEXT_MAX);
        following
            .zip(position + 1..)
            .map(|(trial, position)| TrialLabel { position, ..self.label(&trial) })
            .collect()
    }
}

/// Whether something else used the host's CPU, so that a trial is about the host rather than the system.
fn was_disturbed(attempt: &Attempt) -> bool {
    disturbance(&attempt.recorded.usage, &Limits::default()).is_some_and(|found| found.is_disturbed)
}
