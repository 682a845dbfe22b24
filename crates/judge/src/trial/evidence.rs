//! The figures of a run's trials, computed once.

use std::collections::{BTreeMap, HashMap};

use dyno_stats::{Level, level};
use dyno_store::{Origin, Run, Trial, TrialId};

use crate::trial::check::TrialChecks;
use crate::trial::in_force::InForce;
use crate::trial::of_run::Trials;
use crate::trial::quantity::{self, Figure, Quantity, ln_rates};

/// A run with every figure of its trials.
pub(crate) struct Evidence<'a> {
    pub(crate) run: &'a Run,
    pub(crate) checks: &'a TrialChecks,
    pub(crate) trials: Trials<'a>,
    pub(crate) in_force: InForce<'a>,
    figures: HashMap<TrialId, BTreeMap<Quantity, Figure>>,
    levels: HashMap<TrialId, Level>,
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
            in_force: InForce::of(run),
            figures: run.trials.iter().map(figures).collect(),
            levels: run.trials.iter().filter_map(level).collect(),
        }
    }

    /// The trend of a trial's rate, from its slices or its check; `None` if the trial is too short.
    pub(crate) fn level(&self, trial: &Trial) -> Option<Level> {
        self.levels.get(&trial.id).copied()
    }

    /// Whether a system has a fresh instance in every round.
    pub(crate) fn is_fresh(&self, system: &str) -> bool {
        let known = self.run.systems.iter().find(|known| known.id == system);
        let own = self.run.instances.iter().filter(|instance| instance.system_id == system);
        known.is_some_and(|known| known.origin != Origin::Dsn)
            && own.skip(1).all(|instance| instance.is_fresh)
    }

    /// A trial's figure, or a lower bound of it; `None` if it was not measured, or if no operation finished.
    pub(crate) fn bound(&self, trial: &Trial, quantity: Quantity) -> Option<Figure> {
        self.figures.get(&trial.id)?.get(&quantity).copied()
    }

    /// A trial's figure for verdicts and ratios. They do not use lower bounds.
    pub(crate) fn figure(&self, trial: &Trial, quantity: Quantity) -> Option<f64> {
        self.bound(trial, quantity).filter(|figure| !figure.is_lower_bound).map(|figure| figure.value)
    }
}
