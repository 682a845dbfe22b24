//! One block: all systems of a round in one step at one number of clients.

use std::ops::{BitOrAssign, RangeInclusive};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use dyno_judge::{Disturbance, DisturbanceLimits, disturbance};
use dyno_store::{Measured, Outcome, StoreError, TrialRecord};

use super::Round;
use super::session::RunSession;
use crate::plan::{BetweenSteps, Measure, SliceSeconds};
use crate::run::error::{RoundAbort, RunError, Stopped};
use crate::run::observer::{Event, TrialLabel};
use crate::run::system::foundation;
use crate::run::trial::{FinishedTrial, PlannedTrial, TrialAbort};
use crate::schedule::{Block, Trial, round_blocks, trials};

/// Time for which writing a trial is tried again if the results file is locked or the disk is full, and the interval
/// between two tries.
const COMMIT_PATIENCE: Duration = Duration::from_secs(30);
const COMMIT_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// If this many blocks in a row were still disturbed after a rerun, blocks are not rerun until one block is
/// undisturbed.
const RERUNS_IN_VAIN_MAX: u32 = 3;

/// A system's steal is alike in two rounds if the quotient of the two values lies in this range.
const STEAL_ALIKE: RangeInclusive<f64> = 0.5..=1.5;

/// Limits on the CPU time of neighbours (other processes or guests of the host) while threads are pinned. The limit for
/// processes is low, because a pinned thread waits for its core even if another core is idle. Time that the hypervisor
/// takes (steal) has no limit here, because pinning does not make it worse.
const LIMITS_OF_PINNED: DisturbanceLimits = DisturbanceLimits { steal_max: 1.0, others_max: 0.01 };

/// Maximum number of upcoming trials that are listed for observers.
const NEXT_MAX: usize = 5;

impl<'a> RunSession<'a> {
    /// Runs a block and commits its trials. Reruns a disturbed block as often as the plan allows. A block whose step
    /// needs its original data is rerun only if this data can be restored.
    ///
    /// # Errors
    /// The results file cannot be written, or the user stopped the run.
    pub(crate) fn block(&mut self, round: &mut Round<'a>, block: Block) -> Result<(), RoundAbort> {
        let plan = self.plan;
        let step = &plan.steps[block.step];
        if step.is_load() {
            return self.load(round, block);
        }
        let (reruns, mut run) = (self.reruns(), 0);
        let alone = self.alone(round, block);
        let lasting = alone.and_then(|key| self.lasting_steal.get(&key).copied());
        loop {
            let disturbance = self.run_once(round, block, run > 0)?;
            self.pins_threads &= !disturbance.is_of_pinned;
            let is_hopeful = disturbance.is_too_strong && !disturbance.is_like(lasting);
            let is_wanted = disturbance.is_of_pinned || (is_hopeful && run < reruns);
            // A block with a failed trial is not rerun, because a rerun would hide the failure.
            let by = disturbance.strongest.filter(|_| is_wanted && !disturbance.has_failed);
            let Some(by) = by.filter(|_| self.can_repeat(round, block)) else {
                if is_hopeful {
                    self.reruns_in_vain += 1;
                } else if !disturbance.is_too_strong {
                    self.reruns_in_vain = 0;
                }
                let again = disturbance.strongest.filter(|_| run > 0 && disturbance.is_too_strong);
                self.lasting_steal.extend(alone.zip(again.map(|again| again.steal_share)));
                return Ok(());
            };
            run += 1;
            self.outcome.planned_trials += round.trials(plan, self.seed, block).len();
            self.observer.observe(&Event::Rerunning { step, clients: block.clients, by });
        }
    }

    /// The key of a block in which one system is measured alone, so that the system itself may cause the steal. `None`
    /// for other blocks, and if the plan sets the number of reruns.
    fn alone(&self, round: &Round<'_>, block: Block) -> Option<(usize, usize)> {
        match round.trials(self.plan, self.seed, block).as_slice() {
            [only] if self.plan.rerun_disturbed.is_none() => Some((block.number, only.system)),
            _ => None,
        }
    }

    /// Returns whether a block can be repeated. If its step needs the data with which the block began, that data must
    /// be restorable for all systems.
    fn can_repeat(&self, round: &Round<'_>, block: Block) -> bool {
        let plan = self.plan;
        let loads = foundation(plan, block.step);
        let is_kept = |trial: Trial| {
            let slot = round.slots.get(&trial.system).and_then(|slot| slot.as_ref().ok());
            slot.is_none_or(|slot| slot.kept(plan, &loads).is_some())
        };
        !plan.steps[block.step].needs_its_data()
            || (plan.between_steps == BetweenSteps::Restore
                && round.trials(plan, self.seed, block).into_iter().all(is_kept))
    }

    /// The number of reruns of a disturbed block: one by default, and none after several blocks in a row were
    /// disturbed again.
    fn reruns(&self) -> u32 {
        let is_hopeless = self.options.counts_disturbed || self.reruns_in_vain >= RERUNS_IN_VAIN_MAX;
        self.plan.rerun_disturbed.unwrap_or(u32::from(!is_hopeless))
    }

    /// Runs a block and commits its trials. Returns the disturbance.
    fn run_once(
        &mut self,
        round: &mut Round<'a>,
        block: Block,
        is_rerun: bool,
    ) -> Result<BlockDisturbance, RoundAbort> {
        let mut found = BlockDisturbance::default();
        if let Some(seconds) = self.slice_seconds(block)
            && let Some(trials) = self.slices(round, block, seconds)?
        {
            for (trial, finished) in trials {
                found |= BlockDisturbance::of(&finished);
                self.commit(round, &trial, finished, is_rerun)?;
            }
            return Ok(found);
        }
        for trial in round.trials(self.plan, self.seed, block) {
            found |= self.whole_trial(round, &trial, is_rerun)?;
        }
        Ok(found)
    }

    /// Returns the planned length of a block's slices. Returns `None` if its trials have no slices, either because of
    /// the plan or because events are too rare.
    fn slice_seconds(&self, block: Block) -> Option<SliceSeconds> {
        let may_be_sliced = self.slice_lengths.get(&block.number).is_none_or(Option::is_some);
        match self.plan.steps[block.step].measure {
            Measure::Sliced(seconds) if may_be_sliced => Some(seconds),
            _ => None,
        }
    }

    /// Loads tables and measures the load, or restores tables that an earlier round loaded.
    fn load(&mut self, round: &mut Round<'a>, block: Block) -> Result<(), RoundAbort> {
        let plan = self.plan;
        let is_measured = plan.loads_in(round.number, self.load_round);
        for trial in round.trials(plan, self.seed, block) {
            let planned = PlannedTrial { plan, trial: &trial, options: self.options };
            if (plan.reuses_data_of(trial.system) || !is_measured)
                && let Some(slot) = round.slot(trial.system)
                && planned.restore_load(slot, self.observer)
            {
                self.outcome.planned_trials -= usize::from(is_measured);
                continue;
            }
            // Tables that could not be kept are loaded again, without measurement, before a step that needs these
            // tables.
            if is_measured {
                self.whole_trial(round, &trial, false)?;
            }
        }
        Ok(())
    }

    /// Runs and commits a trial without slices. Returns the disturbance.
    fn whole_trial(
        &mut self,
        round: &mut Round<'a>,
        trial: &Trial,
        is_rerun: bool,
    ) -> Result<BlockDisturbance, RoundAbort> {
        self.check_stopped()?;
        let (label, seconds_left) = (self.label(trial), self.seconds_left());
        let next = self.next(trial, label.position);
        self.observer.observe(&Event::TrialStarted { trial: label, next: &next, seconds_left });
        let finished = self.make(round, trial, label)?;
        let disturbance = BlockDisturbance::of(&finished);
        self.commit(round, trial, finished, is_rerun)?;
        Ok(disturbance)
    }

    fn make(
        &mut self,
        round: &mut Round<'a>,
        trial: &Trial,
        label: TrialLabel<'_>,
    ) -> Result<FinishedTrial, Stopped> {
        if let Err(failed) = self.make_ready(round, trial)? {
            return Ok(failed);
        }
        if !self.plan.steps[trial.step].is_load() {
            self.settle(round, |system| system == trial.system)?;
        }
        let seconds = self.seconds_of(trial.step);
        let Self { plan, options, forecast, observer, round_began, .. } = self;
        let servers = round.servers();
        let slot = round.ready_slot(trial.system);
        let ticked = |pace| {
            let seconds_left = forecast.seconds_left(round_began.elapsed().as_secs_f64());
            observer.observe(&Event::Ticked { trial: label, pace, seconds_left });
        };
        let planned = PlannedTrial { plan, trial, options };
        let mut finished = planned.make(seconds, slot, servers.as_deref(), ticked)?;
        self.follow_up(round, trial, &mut finished);
        Ok(finished)
    }

    /// Does the work after a trial: waits for pending writes, keeps loaded data, asks the server about its queries,
    /// samples its stacks.
    pub(super) fn follow_up(&mut self, round: &mut Round<'a>, trial: &Trial, finished: &mut FinishedTrial) {
        let planned = PlannedTrial { plan: self.plan, trial, options: self.options };
        planned.conclude(&mut finished.record, round.ready_slot(trial.system), self.observer);
        self.ask(round, trial, &mut finished.record);
        self.explain(round, trial, finished);
        self.sample_stacks(round, trial, &mut finished.record);
    }

    /// Makes a system ready for a trial, or returns the trial that failed.
    pub(crate) fn make_ready(
        &mut self,
        round: &mut Round<'a>,
        trial: &Trial,
    ) -> Result<Result<(), FinishedTrial>, Stopped> {
        let planned = PlannedTrial { plan: self.plan, trial, options: self.options };
        let failed = |message, log_tail| Ok(Err(FinishedTrial::failed(planned.record(), message, log_tail)));
        let slot = match round.slots.get_mut(&trial.system).expect("a round's trials are of its systems") {
            Ok(slot) => slot,
            Err(why) => return Ok(Err(FinishedTrial::not_started(planned.record(), why))),
        };
        let warmed_before = slot.instance.warm_seconds;
        let ready = planned.make_ready(slot, self.observer);
        if slot.instance.warm_seconds.to_bits() != warmed_before.to_bits() {
            // If the record of the instance cannot be written, the commit of the trial fails too and reports the
            // error.
            let _ = self.store.put_instance(self.run, &slot.instance);
        }
        match ready {
            Ok(()) => Ok(Ok(())),
            Err(TrialAbort::Stopped) => Err(Stopped),
            Err(TrialAbort::Failed { message, .. }) => failed(message, slot.log_tail()),
            Err(TrialAbort::Hung(_)) => {
                failed("loading its tables hung".to_owned(), slot.examine(true).log_tail)
            }
        }
    }

    /// Commits a trial and its background loads.
    fn commit(
        &mut self,
        round: &Round<'_>,
        trial: &Trial,
        finished: FinishedTrial,
        is_rerun: bool,
    ) -> Result<(), RunError> {
        let label = self.label(trial);
        let (position, disk_bytes_after) = (self.next_position, round.disk_bytes(trial.system));
        self.next_position += 1;
        let mut put = |record| {
            let record = TrialRecord { position, disk_bytes_after, ..record };
            self.write(&record, is_rerun)?;
            Ok::<_, RunError>(record)
        };
        // Background loads come first, because a trial counts as done when its own record is in the file.
        for record in finished.background {
            put(record)?;
        }
        let record = put(finished.record)?;
        self.outcome.count(&record.outcome);
        self.observer.observe(&Event::TrialEnded {
            trial: label,
            outcome: &record.outcome,
            operations_per_second: record
                .capacity
                .map(|capacity| capacity.per_second)
                .or_else(|| record.measured.as_ref().and_then(Measured::operations_per_second)),
            seconds_left: self.seconds_left(),
        });
        Ok(())
    }

    /// Writes a trial. If the file is locked or the disk is full, tries again for a while, because the measurements
    /// exist only in memory.
    fn write(&mut self, record: &TrialRecord, is_rerun: bool) -> Result<(), StoreError> {
        let began = Instant::now();
        let mut is_told = false;
        loop {
            let written = if is_rerun {
                self.store.commit_rerun(self.run, record)
            } else {
                self.store.commit_trial(self.run, record)
            };
            match written {
                Err(error @ (StoreError::Locked { .. } | StoreError::DiskFull { .. }))
                    if began.elapsed() < COMMIT_PATIENCE && !self.options.stop.load(Ordering::Relaxed) =>
                {
                    if !std::mem::replace(&mut is_told, true) {
                        self.observer.observe(&Event::NotCommitted { error: &error });
                    }
                    thread::sleep(COMMIT_AGAIN_AFTER);
                }
                written => return written.map(|_| ()),
            }
        }
    }

    /// Returns the trials that follow a trial in its round, at most [`NEXT_MAX`] of them.
    pub(crate) fn next(&self, of: &Trial, position: usize) -> Vec<TrialLabel<'a>> {
        let (plan, seed, of) = (self.plan, self.seed, *of);
        let here = move |block: &Block| (block.step, block.clients) == (of.step, of.clients);
        let following = round_blocks(plan, seed, of.round)
            .into_iter()
            .filter(|block| !self.is_left(block))
            .skip_while(move |block| !here(block))
            .flat_map(move |block| trials(plan, seed, block, of.round))
            .filter(move |trial| !plan.one_at_a_time || trial.system == of.system)
            .skip_while(move |trial| *trial != of)
            .skip(1)
            .take(NEXT_MAX);
        following
            .zip(position + 1..)
            .map(|(trial, position)| TrialLabel { position, ..self.label(&trial) })
            .collect()
    }
}

/// How neighbours (other processes or guests of the host) disturbed a block.
#[derive(Clone, Copy, Debug, Default)]
struct BlockDisturbance {
    /// Neighbours (other processes or guests of the host) used more CPU time than [`DisturbanceLimits`] allow.
    is_too_strong: bool,
    /// A trial failed, for any reason.
    has_failed: bool,
    /// Other processes used cores to which threads were pinned. This happens at most once in a run, because no thread
    /// is pinned afterwards.
    is_of_pinned: bool,
    /// The largest shares of CPU time that neighbours used during a trial. `None` if they were not measured.
    strongest: Option<Disturbance>,
}

impl BlockDisturbance {
    /// Whether this steal is about as strong as in an earlier round, in which a rerun did not help.
    fn is_like(&self, lasting: Option<f64>) -> bool {
        let Some((found, lasting)) = self.strongest.zip(lasting) else { return false };
        found.others_share <= DisturbanceLimits::default().others_max
            && STEAL_ALIKE.contains(&(found.steal_share / lasting))
    }

    fn of(finished: &FinishedTrial) -> Self {
        let has_failed = finished.record.outcome != Outcome::Completed;
        let of_limits = |limits: &DisturbanceLimits| disturbance(&finished.record, limits);
        let is_disturbed = |found: Option<Disturbance>| found.is_some_and(|found| found.is_disturbed);
        let strongest = of_limits(&DisturbanceLimits::default());
        Self {
            has_failed,
            is_too_strong: is_disturbed(strongest),
            is_of_pinned: finished.record.is_pinned() && is_disturbed(of_limits(&LIMITS_OF_PINNED)),
            strongest,
        }
    }
}

impl BitOrAssign for BlockDisturbance {
    fn bitor_assign(&mut self, other: Self) {
        self.has_failed |= other.has_failed;
        self.is_too_strong |= other.is_too_strong;
        self.is_of_pinned |= other.is_of_pinned;
        self.strongest = match (self.strongest, other.strongest) {
            (Some(own), Some(other)) => Some(Disturbance {
                steal_share: own.steal_share.max(other.steal_share),
                others_share: own.others_share.max(other.others_share),
                is_disturbed: own.is_disturbed || other.is_disturbed,
                ..own
            }),
            (own, other) => own.or(other),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_alike_within_half_unless_other_processes_disturb() {
        let is_like = |steal_share: f64, others_share: f64| {
            let strongest = Some(Disturbance { steal_share, others_share, cpus: 2, is_disturbed: true });
            let found = BlockDisturbance { is_too_strong: true, strongest, ..BlockDisturbance::default() };
            found.is_like(Some(0.1))
        };
        assert!(is_like(0.06, 0.0) && is_like(0.14, 0.04));
        assert!(!is_like(0.04, 0.0) && !is_like(0.16, 0.0) && !is_like(0.1, 0.06));
        assert!(!BlockDisturbance::default().is_like(Some(0.1)));
    }
}
