//! The figures of a run's trials, computed once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use dyno_stats::{Level, level};
use dyno_store::{Origin, Outcome, Run, Trial, TrialId};

use crate::trial::check::TrialChecks;
use crate::trial::in_force::InForce;
use crate::trial::of_run::Trials;
use crate::trial::quantity::{self, Figure, Quantity, ln_rates};

/// A run with all figures of its trials.
pub(crate) struct Evidence<'a> {
    pub(crate) run: &'a Run,
    pub(crate) checks: &'a TrialChecks,
    pub(crate) trials: Trials<'a>,
    pub(crate) in_force: Rc<InForce<'a>>,
    figures: Rc<HashMap<TrialId, BTreeMap<Quantity, Figure>>>,
    levels: Rc<HashMap<TrialId, Level>>,
    /// The rounds in which the loading of the data was measured, ascending. Other rounds use the data of the last load
    /// before them.
    load_rounds: Rc<Vec<u32>>,
}

impl<'a> Evidence<'a> {
    pub(crate) fn of(run: &'a Run, checks: &'a TrialChecks) -> Self {
        let figures = |trial: &Trial| {
            let variation = checks.get(&trial.id).and_then(|check| check.variation.as_ref());
            (trial.id, quantity::figures(&trial.record, variation))
        };
        let level = |trial: &Trial| {
            let of_slices: Vec<f64> = ln_rates(&trial.record).into_values().collect();
            let level = level(&of_slices).or_else(|| checks.get(&trial.id)?.level)?;
            Some((trial.id, level))
        };
        Self {
            run,
            checks,
            trials: Trials::of(run),
            in_force: Rc::new(InForce::of(run)),
            figures: Rc::new(run.trials.iter().map(figures).collect()),
            levels: Rc::new(run.trials.iter().filter_map(level).collect()),
            load_rounds: Rc::new(load_rounds(run)),
        }
    }

    /// The evidence from the rounds up to `last_round`.
    pub(crate) fn until(&self, last_round: u32) -> Self {
        Self {
            run: self.run,
            checks: self.checks,
            trials: Trials::until(self.run, last_round),
            in_force: Rc::clone(&self.in_force),
            figures: Rc::clone(&self.figures),
            levels: Rc::clone(&self.levels),
            load_rounds: Rc::clone(&self.load_rounds),
        }
    }

    /// The number of the data load, from 0, that made the data of a round. It is the last load that was measured in
    /// this round or in an earlier one.
    pub(crate) fn load_of(&self, round: u32) -> usize {
        self.load_rounds.partition_point(|load| *load <= round).saturating_sub(1)
    }

    /// The trend of a trial's rate, from its slices or its check; `None` if the trial is too short.
    pub(crate) fn level(&self, trial: &Trial) -> Option<Level> {
        self.levels.get(&trial.id).copied()
    }

    /// Whether a system has a fresh instance in every round. The first instance of a run always counts as fresh,
    /// unless Dyno did not start the server.
    pub(crate) fn is_fresh(&self, system: &str) -> bool {
        let known = self.run.systems.iter().find(|known| known.id == system);
        let own = self.run.instances.iter().filter(|instance| instance.system_id == system);
        known.is_some_and(|known| known.origin != Origin::Dsn)
            && own.skip(1).all(|instance| instance.is_fresh)
    }

    /// A trial's figure of a quantity, or a lower bound of it. `None` if it was not measured, or if it has no value
    /// because no operation finished.
    pub(crate) fn bound(&self, trial: &Trial, quantity: Quantity) -> Option<Figure> {
        self.figures.get(&trial.id)?.get(&quantity).copied()
    }

    /// A trial's figure for verdicts and ratios. `None` if it is only a lower bound.
    pub(crate) fn figure(&self, trial: &Trial, quantity: Quantity) -> Option<f64> {
        self.bound(trial, quantity).filter(|figure| !figure.is_lower_bound).map(|figure| figure.value)
    }
}

fn load_rounds(run: &Run) -> Vec<u32> {
    let is_load = |id: &str| run.steps.iter().any(|step| step.id == id && step.command == "prepare");
    let measured = run.trials.iter().map(|trial| &trial.record);
    let rounds = measured.filter(|trial| trial.outcome == Outcome::Completed && is_load(&trial.step_id));
    rounds.map(|trial| trial.round).collect::<BTreeSet<u32>>().into_iter().collect()
}
