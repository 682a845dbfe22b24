//! A sample run with plans of queries.

use dyno_store::{QueryPlan, Run};

use super::run;

/// Plans of three systems for two queries. For `scan`, two systems have the same plan and the third has none. For
/// `q19`, two systems have the same plan and the third has another.
pub(crate) fn queried_run() -> Run {
    let mut run = run(1);
    let steps = [("point-query", "scan"), ("read-only", "q19")];
    run.steps.retain(|step| steps.iter().any(|(old, _)| *old == step.id));
    run.trials.retain(|trial| steps.iter().any(|(old, _)| *old == trial.record.step_id));
    let renamed = |id: &mut String| {
        let new = steps.iter().find(|(old, _)| old == id).map(|(_, new)| *new);
        new.unwrap_or_default().clone_into(id);
    };
    run.steps.iter_mut().for_each(|step| renamed(&mut step.id));
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        renamed(&mut record.step_id);
        let text = match (record.step_id.as_str(), record.system_id.as_str()) {
            ("scan", "mysql56" | "maria") => "1 SIMPLE lineitem: ALL [600 rows]",
            ("q19", "mysql56") => {
                "1 SIMPLE part: ALL; Using where [200 rows]\n1 SIMPLE lineitem: ALL [600 rows]"
            }
            ("q19", _) => {
                "1 SIMPLE lineitem: ref, i_l_partkey; Using index condition [3 rows]\n1 SIMPLE part: eq_ref, PRIMARY [1 rows]"
            }
            _ => continue,
        };
        let statement = "SELECT count(*) FROM lineitem".to_owned();
        record.query_plan = Some(QueryPlan { statement, text: text.to_owned() });
    }
    run
}
