//! The tables that have rows of a run.

/// Tables with a column `run_id`, in an order in which their rows can be inserted. Rows of `trial` are inserted after
/// the rows of these tables.
pub(crate) const OF_RUN: &[&str] =
    &["system", "variable", "step", "claim", "resumption", "attempt", "instance", "crash_test"];

/// Tables with a column `trial_id`, in an order in which their rows can be inserted.
pub(crate) const OF_TRIAL: &[&str] = &[
    "slice",
    "step_event",
    "timeline",
    "replica",
    "sample",
    "sample_latency",
    "trial_counter",
    "counter_series",
    "stack_profile",
    "stack",
    "query_plan",
    "query_answer",
    "statement_plan",
    "replayed_digest",
];

/// Returns the SQL (`FROM` and `WHERE`) for the rows of a table that belong to run `?1`.
pub(crate) fn rows_of_run(table: &str) -> String {
    let condition = match table {
        "run" => "id = ?1",
        _ if OF_TRIAL.contains(&table) => "trial_id IN (SELECT id FROM trial WHERE run_id = ?1)",
        _ => "run_id = ?1",
    };
    format!("FROM {table} WHERE {condition}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::File;

    #[test]
    fn every_table_of_the_schema_is_known() {
        let file = File::new();
        let mut known = [&["run", "trial", "counter"], OF_RUN, OF_TRIAL].concat();
        known.sort_unstable();
        assert_eq!(
            file.sql::<String>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"),
            known
        );
    }
}
