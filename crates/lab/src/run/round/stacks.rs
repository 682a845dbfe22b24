//! Stacks in the first round of a run.

use dyno_engine::stack_tool;
use dyno_host::StackTool;
use dyno_store::{Outcome, TrialRecord};

use super::Round;
use super::session::RunSession;
use crate::plan::Plan;
use crate::run::observer::{Event, Observer};
use crate::run::options::RunOptions;
use crate::run::trial::PlannedTrial;
use crate::schedule::Trial;

/// The round in which stacks are sampled, and the tool for it.
#[derive(Debug)]
pub(crate) struct StackRound {
    number: u32,
    tool: StackTool,
}

impl StackRound {
    /// Returns the next round, in which stacks are sampled, with the tool for it. Returns `None` if no step samples
    /// stacks. If several hosts share the rounds, returns `None` on all hosts except the one that runs round 0. If the
    /// tool is missing, returns `None` and tells observers the reason.
    pub(crate) fn of(
        plan: &Plan,
        options: &RunOptions<'_>,
        number: u32,
        observer: &mut dyn Observer,
    ) -> Option<Self> {
        plan.steps.iter().find(|step| step.stacks.is_some())?;
        if options.task.as_ref().is_some_and(|task| task.round > 0) {
            return None;
        }
        let tool = stack_tool(&options.cache);
        tool.inspect_err(|error| {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default();
            observer.observe(&Event::StacksNotSampled { system: None, reason });
        })
        .ok()
        .map(|tool| Self { number, tool })
    }
}

impl<'a> RunSession<'a> {
    /// Samples the stacks of a completed trial's server, if its step wants stacks and this is the round for them.
    pub(crate) fn sample_stacks(&mut self, round: &mut Round<'a>, trial: &Trial, record: &mut TrialRecord) {
        let planned = PlannedTrial { plan: self.plan, trial, options: self.options };
        let seconds = self.seconds_of(trial.step);
        let (Some(stacks), Some(sampling)) = (&self.stacks, planned.step().stacks) else { return };
        let is_wanted = stacks.number == trial.round && record.outcome == Outcome::Completed;
        let Some(slot) = round.slot(trial.system).filter(|_| is_wanted && !self.options.is_stopped()) else {
            return;
        };
        let system = self.plan.systems[trial.system].id.as_str();
        self.observer.observe(&Event::SamplingStacks { system, step: planned.step() });
        match planned.sample_stacks(&stacks.tool, sampling.hertz, seconds, slot) {
            Ok(profile) => record.stacks = Some(profile),
            Err(abort) => {
                let reason = &abort.to_string();
                self.observer.observe(&Event::StacksNotSampled { system: Some(system), reason });
            }
        }
    }
}
