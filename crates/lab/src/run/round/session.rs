//! The state of a run while the run measures.

use std::collections::BTreeMap;
use std::time::Instant;

use dyno_engine::Snapshot;
use dyno_settings::Audit;
use dyno_store::{LeftTest, RunId, Store};

use super::calibration::SliceLengths;
use super::queries::QueryRound;
use super::stacks::StackRound;
use super::{Round, comparability};
use crate::plan::Plan;
use crate::run::error::{RunError, Stopped};
use crate::run::not_started::NotStarted;
use crate::run::observer::{Event, Observer, TrialLabel};
use crate::run::options::{RunOptions, RunOutcome};
use crate::run::prepare::{Executed, Forecast, Installed};
use crate::run::system::{Holds, SystemState};
use crate::schedule::{Trial, blocks};

/// A run that is in progress. Dropping this value stops the run's systems and removes their data.
pub(crate) struct RunSession<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) options: &'a RunOptions<'a>,
    pub(crate) store: &'a mut Store,
    pub(crate) run: RunId,
    /// Seed of the order of trials and of their loads.
    pub(crate) seed: u64,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) installed: &'a [Installed],
    /// The data with which each system starts, unless its database is empty.
    pub(crate) given: &'a [Option<Snapshot>],
    pub(crate) holds: &'a Holds<'a>,
    /// The plan's systems, in its order.
    pub(crate) systems: Vec<SystemState<'a>>,
    /// The audit as last reported to observers.
    pub(crate) audit: Option<Audit>,
    /// Whether this session has completed a round. Before that, systems are audited and their variables are
    /// recorded.
    pub(crate) has_completed_round: bool,
    /// The lengths of the slices of each block, by the block's number. `None` for a block whose trials have no
    /// slices.
    pub(crate) slice_lengths: BTreeMap<usize, Option<SliceLengths>>,
    /// Whether threads may be pinned to cores. False once other processes have used the cores of pinned threads.
    pub(crate) pins_threads: bool,
    /// Number of blocks in a row that were still disturbed after a rerun.
    pub(crate) reruns_in_vain: u32,
    /// Steal that was still too strong after a rerun, in blocks that measure one system alone. By the block's number
    /// and the system.
    pub(crate) lasting_steal: BTreeMap<(usize, usize), f64>,
    /// Tests that are no longer measured, in the order in which their measurement ended.
    pub(crate) left_tests: Vec<LeftTest>,
    /// The first round in which loads are measured. Usually this is the first round of the run. If the run is resumed
    /// before all loads have been measured, this is the first round after the resumption.
    pub(crate) load_round: u32,
    /// How a time budget was divided. `None` before the division, and for a run without a time budget.
    pub(crate) divided: Option<Divided>,
    /// The position of the next trial in the order of execution.
    pub(crate) next_position: u32,
    pub(crate) forecast: Forecast,
    pub(crate) round_began: Instant,
    /// The round in which stacks are sampled. `None` if no step samples stacks, or if stacks cannot be sampled.
    pub(crate) stacks: Option<StackRound>,
    /// The round in which servers are asked about queries.
    pub(crate) queries: QueryRound,
    pub(crate) outcome: RunOutcome,
}

/// The choices of a divided time budget, except the number of rounds.
pub(crate) struct Divided {
    /// Measured time of a trial, in seconds. `None` for the plan's time.
    pub(crate) trial_seconds: Option<f64>,
}

impl<'a> RunSession<'a> {
    /// Begins a run, or resumes one with the rounds and trials that it has `executed`.
    pub(crate) fn new(
        plan: &'a Plan,
        options: &'a RunOptions<'a>,
        (installed, given, holds): (&'a [Installed], &'a [Option<Snapshot>], &'a Holds<'a>),
        (store, run, seed): (&'a mut Store, RunId, u64),
        executed: &Executed,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let not_started: Vec<NotStarted> =
            installed.iter().filter_map(|installed| installed.as_ref().err().cloned()).collect();
        let stacks = StackRound::of(plan, options, executed.next_round, observer);
        let mut session = Self {
            plan,
            options,
            store,
            run,
            seed,
            observer,
            installed,
            given,
            holds,
            systems: installed.iter().map(SystemState::of).collect(),
            audit: None,
            has_completed_round: false,
            slice_lengths: BTreeMap::new(),
            pins_threads: plan.pin_threads.0 && !options.counts_disturbed,
            reruns_in_vain: 0,
            lasting_steal: BTreeMap::new(),
            left_tests: executed.left_tests.clone(),
            load_round: executed.load_round.unwrap_or(executed.next_round),
            divided: None,
            next_position: executed.next_position,
            forecast: Forecast::new(plan, plan.rounds_min()),
            round_began: Instant::now(),
            stacks,
            // Each task of a shared run has one round. Only the task of round 0 asks for plans and answers.
            queries: QueryRound::new(if options.task.is_some() { 0 } else { executed.next_round }),
            outcome: RunOutcome {
                run,
                interrupted: false,
                planned_trials: 0,
                completed_trials: executed.trials_completed,
                failed_trials: 0,
                not_started,
                failed_crash_tests: Vec::new(),
                given: BTreeMap::new(),
            },
        };
        session.plan_rounds(executed.next_round, executed.rounds_complete, plan.rounds_min());
        session
    }

    /// Sets the forecast and the number of planned trials for a run of `rounds` rounds, of which `complete` are
    /// complete. `number` is the next round's number.
    pub(crate) fn plan_rounds(&mut self, number: u32, complete: u32, rounds: u32) {
        let left = rounds.saturating_sub(complete);
        self.forecast.set_rounds_left(left);
        let trials = |is_load: bool| {
            let blocks = blocks(self.plan).into_iter().filter(|block| !self.is_left(block));
            let wanted = blocks.filter(|block| self.plan.steps[block.step].is_load() == is_load);
            wanted.map(|block| self.plan.systems_of(block.step).count()).sum::<usize>()
        };
        let loads = (number..number + left).filter(|round| self.plan.loads_in(*round, self.load_round));
        let planned = left as usize * trials(false) + loads.count() * trials(true);
        self.outcome.planned_trials = self.outcome.completed_trials + self.outcome.failed_trials + planned;
    }

    /// Whether the user stopped the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.options.is_stopped()
    }

    /// Returns an error if the user stopped the run.
    pub(crate) fn check_stopped(&self) -> Result<(), Stopped> {
        if self.is_stopped() { Err(Stopped) } else { Ok(()) }
    }

    /// Returns the measured time of a trial of a step, in seconds. A time budget does not change this time if
    /// something happens at a certain time of the step, or if the step searches for a capacity.
    pub(crate) fn seconds_of(&self, step: usize) -> f64 {
        let step = &self.plan.steps[step];
        let divided = self.divided.as_ref().and_then(|divided| divided.trial_seconds);
        divided.filter(|_| !step.has_time_axis() && step.search().is_none()).unwrap_or(step.seconds)
    }

    /// Estimated time until the run's end, in seconds.
    pub(crate) fn seconds_left(&self) -> f64 {
        self.forecast.seconds_left(self.round_began.elapsed().as_secs_f64())
    }

    /// Audits all systems that have started, in the first round. Observers get only new findings.
    ///
    /// # Errors
    /// The results file cannot be written, or the run is strict and the systems are not comparable.
    pub(crate) fn audit(&mut self, round: &Round<'_>) -> Result<(), RunError> {
        if self.has_completed_round {
            return Ok(());
        }
        for (&system, slot) in &round.slots {
            self.systems[system].limits =
                comparability::limits(&self.plan.systems[system], slot.as_ref().ok());
        }
        let audit = comparability::audit_systems(self.plan, &self.systems, round);
        self.store.put_audit(self.run, &serde_json::json!(audit))?;
        let mut news = audit.clone();
        // Findings about systems are reported only after all systems have started. Otherwise, each start of a system
        // would add the system to the findings, and they would be reported again.
        if !self.systems.iter().all(SystemState::is_known) {
            news.findings.retain(|finding| finding.systems.is_empty());
            news.durability.clear();
        }
        if let Some(before) = self.audit.replace(news.clone()) {
            news.findings.retain(|finding| !before.findings.contains(finding));
            news.durability.retain(|system| !before.durability.contains(system));
        }
        self.observer.observe(&Event::Audited { audit: &news });
        if self.options.strict && comparability::is_serious(&audit) {
            return Err(RunError::NotComparable { audit });
        }
        Ok(())
    }

    /// Returns the label of a trial, for observers.
    pub(crate) fn label(&self, trial: &Trial) -> TrialLabel<'a> {
        TrialLabel {
            position: self.outcome.completed_trials + self.outcome.failed_trials,
            of: self.outcome.planned_trials,
            system: &self.plan.systems[trial.system].id,
            step: &self.plan.steps[trial.step],
            clients: trial.clients,
            round: trial.round,
        }
    }
}
