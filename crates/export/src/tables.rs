//! The exported tables of the results file, with their columns.

use dyno_store::RunId;
use rusqlite::Statement;

use crate::row::{Column, Kind};

pub(crate) struct Table {
    /// Name of the table and of its file.
    pub(crate) name: &'static str,
    pub(crate) select: &'static str,
    /// The column with the run's number, in the query `select`.
    pub(crate) run: &'static str,
    /// Columns that rows are sorted by.
    pub(crate) order: &'static str,
}

/// Every table. A table comes after the tables that it refers to.
pub(crate) const TABLES: &[Table] = &[
    Table { name: "run", select: "SELECT * FROM run", run: "id", order: "id" },
    of_run("system", "SELECT * FROM system", "run_id, position"),
    of_run("variable", "SELECT * FROM variable", "run_id, system_id, name"),
    of_run("step", "SELECT * FROM step", "run_id, position"),
    of_run("instance", "SELECT * FROM instance", "run_id, round, system_id"),
    of_run("crash_test", "SELECT * FROM crash_test", "run_id, system_id"),
    of_run("claim", "SELECT * FROM claim", "run_id, position"),
    of_run("resumption", "SELECT * FROM resumption", "run_id, resumed_at_ms"),
    of_run("attempt", "SELECT * FROM attempt", "run_id, round, number"),
    of_run("trial", "SELECT * FROM trial", "run_id, position, id"),
    of_run(
        "slice",
        "SELECT trial.run_id, slice.* FROM slice JOIN trial ON trial.id = slice.trial_id",
        "trial_id, cycle",
    ),
    of_run(
        "step_event",
        "SELECT trial.run_id, e.* FROM step_event e JOIN trial ON trial.id = e.trial_id",
        "trial_id, number",
    ),
    of_run(
        "timeline",
        "SELECT trial.run_id, t.* FROM timeline t JOIN trial ON trial.id = t.trial_id",
        "trial_id",
    ),
    of_run(
        "replica",
        "SELECT trial.run_id, r.* FROM replica r JOIN trial ON trial.id = r.trial_id",
        "trial_id, number",
    ),
    of_run(
        "sample",
        "SELECT trial.run_id, sample.* FROM sample JOIN trial ON trial.id = sample.trial_id",
        "trial_id, number",
    ),
    of_run(
        "sample_latency",
        "SELECT trial.run_id, l.* FROM sample_latency l JOIN trial ON trial.id = l.trial_id",
        "trial_id, number",
    ),
    of_run(
        "trial_counter",
        "SELECT trial.run_id, c.trial_id, counter.name, counter.is_gauge, c.first_value, c.last_value,
                s.encoded AS sample_values
         FROM trial_counter c
         JOIN trial ON trial.id = c.trial_id
         JOIN counter ON counter.id = c.counter_id
         LEFT JOIN counter_series s ON s.trial_id = c.trial_id AND s.counter_id = c.counter_id",
        "c.trial_id, c.counter_id",
    ),
    of_run(
        "stack_profile",
        "SELECT trial.run_id, p.* FROM stack_profile p JOIN trial ON trial.id = p.trial_id",
        "trial_id",
    ),
    of_run(
        "stack",
        "SELECT trial.run_id, s.* FROM stack s JOIN trial ON trial.id = s.trial_id",
        "trial_id, number",
    ),
    of_run(
        "query_plan",
        "SELECT trial.run_id, p.* FROM query_plan p JOIN trial ON trial.id = p.trial_id",
        "trial_id",
    ),
    of_run(
        "query_answer",
        "SELECT trial.run_id, a.* FROM query_answer a JOIN trial ON trial.id = a.trial_id",
        "trial_id",
    ),
    of_run(
        "statement_plan",
        "SELECT trial.run_id, p.* FROM statement_plan p JOIN trial ON trial.id = p.trial_id",
        "trial_id, number",
    ),
    of_run(
        "replayed_digest",
        "SELECT trial.run_id, d.* FROM replayed_digest d JOIN trial ON trial.id = d.trial_id",
        "trial_id, digest",
    ),
];

const fn of_run(name: &'static str, select: &'static str, order: &'static str) -> Table {
    Table { name, select, run: "run_id", order }
}

impl Table {
    /// Returns the query for the rows of the given runs, or of all runs if `None`.
    pub(crate) fn sql(&self, runs: Option<&[RunId]>) -> String {
        let Self { select, run, order, .. } = self;
        let condition = runs.map_or_else(String::new, |runs| {
            let list: Vec<_> = runs.iter().map(ToString::to_string).collect();
            format!(" WHERE {run} IN ({})", list.join(", "))
        });
        format!("{select}{condition} ORDER BY {order}")
    }

    /// Returns the query that tells whether a run has rows in this table.
    pub(crate) fn exists_sql(&self, run: RunId) -> String {
        format!("SELECT EXISTS ({} WHERE {} = {run})", self.select, self.run)
    }

    /// Names of the columns that the rows of one run are sorted by.
    pub(crate) fn sorted_by(&self) -> Vec<&'static str> {
        let names = self.order.split(", ").filter(|name| *name != self.run);
        names.map(|name| name.rsplit_once('.').map_or(name, |(_, name)| name)).collect()
    }
}

/// The columns of a query. The results file's tables are strict, so values have the declared types.
pub(crate) fn columns(statement: &Statement<'_>) -> Vec<Column> {
    let column = |column: rusqlite::Column<'_>| Column {
        name: column.name().to_owned(),
        kind: kind(column.name(), column.decl_type().unwrap_or_default()),
    };
    statement.columns().map(column).collect()
}

fn kind(name: &str, declared: &str) -> Kind {
    match (name, declared) {
        // SQLite's signed integer stores the bits of this unsigned number.
        ("seed", _) => Kind::Unsigned,
        ("sample_values", _) => Kind::Reals,
        (_, "INTEGER") if name.starts_with("is_") => Kind::Boolean,
        (_, "INTEGER") => Kind::Integer,
        // The column `operations_per_second` is computed by an expression, so it has no declared type.
        ("operations_per_second", _) | (_, "REAL") => Kind::Real,
        (_, "BLOB") => Kind::Bytes,
        _ => Kind::Text,
    }
}
