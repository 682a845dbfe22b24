//! Restores the plan of a stored run as it was when the run was made.

use std::path::Path;

use dyno_engine::Catalogue;
use dyno_store::{Run, SearchQuestion};
use serde_json::json;

use crate::plan::syntax::error::Problem;
use crate::plan::{Plan, PlanError};
use crate::records;

impl Plan {
    /// Returns the plan of a stored run in the form that was run: with the run's scale, steps, clients and seconds,
    /// and with the two versions of a bisection. `named` is the plan that the user names. Without `named`, the plan's
    /// text is taken from the results file, and its paths are relative to the current folder.
    ///
    /// # Errors
    /// The text is not a valid plan on this machine, or it is not the plan of this run.
    pub fn of_run(run: &Run, named: Option<Self>, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let id = run.id;
        let plan = match named {
            Some(plan) if plan.text == run.record.plan_text => plan,
            Some(plan) => {
                return Err(Problem::Other(format!(
                    "the plan {} is not that of run {id}: its text has changed since",
                    plan.name
                ))
                .into());
            }
            None => {
                let file = format!("the plan of run {id}");
                Self::parse(&run.record.plan_text, &file, Path::new(""), catalogue)?
            }
        };
        let mut plan = match run.record.scale {
            scale if (scale - 1.0).abs() < f64::EPSILON => plan,
            scale => {
                let scale = plan.scale_of(&scale.to_string())?;
                plan.scaled(&scale)
            }
        };
        plan.steps.retain(|step| run.steps.iter().any(|record| record.id == step.id));
        for step in &mut plan.steps {
            let Some(record) = run.steps.iter().find(|record| record.id == step.id) else { continue };
            if let Some(seconds) = record.seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0) {
                step.set_seconds(seconds);
                step.warmup_seconds =
                    if record.warmup_seconds.is_finite() { record.warmup_seconds } else { 0.0 };
            }
            step.clients.clone_from(&record.clients);
        }
        plan.check_is_of(run)?;
        match run.record.search.as_ref().map(|search| &search.question) {
            Some(SearchQuestion::Bisection { .. }) => plan.with_versions_of(run, catalogue),
            _ => Ok(plan),
        }
    }

    /// Returns an error if the run's steps had other options or workloads than the plan's. This happens, for
    /// example, if the run's scale did not multiply all rows by one factor.
    fn check_is_of(&self, run: &Run) -> Result<(), PlanError> {
        for step in records::steps(self) {
            let is_it = run.steps.iter().any(|record| {
                record.id == step.id && record.options == step.options && record.workload == step.workload
            });
            if !is_it {
                return Err(Problem::Other(format!(
                    "the step {} of run {} had other options than its plan gives it now: {} where the plan has {}",
                    step.id,
                    run.id,
                    run.steps.iter().find(|it| it.id == step.id).map_or(json!(null), |it| it.options.clone()),
                    step.options
                ))
                .into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dyno_store::{RunId, RunRecord, RunState};

    use super::*;
    use crate::plan::testing::{TEXT, parse, plan};

    fn run_of(plan: &Plan) -> Run {
        Run {
            steps: records::steps(plan),
            ..Run::new(
                RunId(7),
                RunRecord { plan_text: plan.text.clone(), scale: plan.scale, ..RunRecord::default() },
                RunState::Killed,
            )
        }
    }

    #[test]
    fn the_plan_of_a_run_has_its_scale_and_seconds() {
        let catalogue = Catalogue::builtin();
        let twice = plan().scale_of("2").unwrap();
        let mut as_run = plan().scaled(&twice);
        as_run.steps[1].set_seconds(3.0);
        as_run.keep_clients(&[4]);
        let again = Plan::of_run(&run_of(&as_run), None, &catalogue).unwrap();
        assert_eq!(again.data.unwrap().rows, 200);
        assert_eq!((again.steps[1].seconds, again.steps[1].clients.as_slice()), (3.0, &[4][..]));
    }

    #[test]
    fn a_plan_that_is_not_that_of_the_run_is_an_error() {
        let catalogue = Catalogue::builtin();
        let other = parse(&TEXT.replace("range_size = 10", "range_size = 20")).unwrap();
        let error = Plan::of_run(&run_of(&plan()), Some(other), &catalogue).unwrap_err().to_string();
        assert_eq!(error, "the plan small is not that of run 7: its text has changed since");
        let mut run = run_of(&plan());
        run.steps[1].options = json!({ "range_size": "20" });
        let error = Plan::of_run(&run, None, &catalogue).unwrap_err().to_string();
        assert!(error.starts_with("the step read-write of run 7 had other options than its plan"), "{error}");
    }
}
