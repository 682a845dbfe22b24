//! The servers' plans for the query of each step. Systems with equal plans are grouped.

use dyno_store::{QueryPlan, Run, Trial};
use serde::Serialize;

/// The plans for a step's query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueryPlans {
    pub step: String,
    /// The query, as the first system with a plan received it.
    pub statement: String,
    /// The distinct plans, in the order of their first systems.
    pub plans: Vec<SharedPlan>,
}

/// A plan and the systems that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedPlan {
    pub systems: Vec<String>,
    /// The plan. Its estimates are those of the first of `systems`.
    pub plan: String,
}

/// The plans of a run, one item for each step, in run order. If a system has several plans for a step, the last of
/// them counts.
pub fn query_plans(run: &Run) -> Vec<QueryPlans> {
    let of_step = |step: &str| {
        let of_system = |system: &str| {
            let is_it = |trial: &&Trial| trial.record.step_id == step && trial.record.system_id == system;
            run.trials.iter().filter(is_it).rev().find_map(|trial| trial.record.query_plan.as_ref())
        };
        let found: Vec<(&str, &QueryPlan)> = run
            .systems
            .iter()
            .filter_map(|system| Some((system.id.as_str(), of_system(&system.id)?)))
            .collect();
        let statement = found.iter().map(|(_, plan)| &plan.statement).find(|statement| !statement.is_empty());
        (!found.is_empty()).then(|| QueryPlans {
            step: step.to_owned(),
            statement: statement.cloned().unwrap_or_default(),
            plans: shared(&found),
        })
    };
    run.steps.iter().filter_map(|step| of_step(&step.id)).collect()
}

fn shared(found: &[(&str, &QueryPlan)]) -> Vec<SharedPlan> {
    let mut plans: Vec<SharedPlan> = Vec::new();
    for (system, plan) in found {
        let same =
            plans.iter_mut().find(|known| without_estimates(&known.plan) == without_estimates(&plan.text));
        match same {
            Some(known) => known.systems.push((*system).to_owned()),
            None => plans.push(SharedPlan { systems: vec![(*system).to_owned()], plan: plan.text.clone() }),
        }
    }
    plans
}

/// A plan without the estimates in square brackets.
fn without_estimates(plan: &str) -> String {
    let mut rest = plan;
    let mut kept = String::new();
    while let Some((before, from)) = rest.split_once('[') {
        kept.push_str(before.trim_end());
        rest = from.split_once(']').map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{add_step, run};

    #[test]
    fn plans_that_differ_in_estimates_alone_are_one() {
        let mut run = run(1, &["old", "new", "other", "unasked"]);
        let rates = ["old", "new", "other", "unasked"].map(|system| (system, vec![10.0, 11.0]));
        add_step(&mut run, "queries", "q19", 1, &rates);
        add_step(&mut run, "queries", "plain", 1, &rates);
        let plans = [
            ("old", "1 part: ALL [20 rows]\n1 lineitem: ref"),
            ("new", "1 part: ALL [19 rows]\n1 lineitem: ref"),
            ("other", "1 lineitem: ALL [20 rows]"),
        ];
        for (system, text) in plans {
            let is_it =
                |trial: &&mut Trial| trial.record.step_id == "q19" && trial.record.system_id == system;
            let first = run.trials.iter_mut().find(is_it).unwrap();
            first.record.query_plan =
                Some(QueryPlan { statement: "SELECT".to_owned(), text: text.to_owned() });
        }
        let [found] = &query_plans(&run)[..] else { panic!() };
        assert_eq!((found.step.as_str(), found.statement.as_str()), ("q19", "SELECT"));
        let systems: Vec<_> = found.plans.iter().map(|plan| plan.systems.join(" ")).collect();
        assert_eq!(systems, ["old new", "other"]);
        assert_eq!(found.plans[0].plan, plans[0].1);
    }

    #[test]
    fn an_open_bracket_ends_what_is_compared() {
        assert_eq!(without_estimates("a [1 row]; b\nc [2"), "a; b\nc");
    }
}
