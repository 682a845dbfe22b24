//! The tables of a data set. They are the same tables as those of other exports, but with the run's key instead of
//! the run's number. Trials also have the columns of the tables that they refer to, so that a query needs no join.

use super::facts::RunFacts;
use crate::layout::Layout;
use crate::row::{Column, Kind, Value};
use crate::tables::{TABLES, Table};

/// The table whose file marks a run as complete.
pub(super) const MARK: &str = "run";

/// Trials with the columns of the tables that they refer to.
const TRIAL: Table = Table {
    name: "trial",
    select: "SELECT trial.*,
                    coalesce(trial.capacity_per_second, trial.operations / nullif(trial.seconds, 0))
                        AS operations_per_second,
                    system.name AS system_name, system.engine_version, system.is_base, system.control_of, system.profile,
                    system.dollars_per_hour, step.group_name, step.workload, step.operation, step.background_of
             FROM trial
             JOIN system ON system.run_id = trial.run_id AND system.id = trial.system_id
             JOIN step ON step.run_id = trial.run_id AND step.id = trial.step_id",
    run: "trial.run_id",
    order: "trial.step_id, trial.clients, trial.system_id, trial.round, trial.id",
};

pub(super) fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().map(|table| if table.name == TRIAL.name { &TRIAL } else { table })
}

/// Returns the columns of the file that has a run's rows of `table`. `columns` are the columns of the table's query.
pub(super) fn layout<'a>(table: &Table, facts: &'a RunFacts, columns: Vec<Column>) -> Layout<'a> {
    let mut layout = Layout::default();
    layout.constant(column("run_key", Kind::Text), Value::Text(&facts.key));
    for (index, column) in columns.into_iter().enumerate() {
        match (table.name, column.name.as_str()) {
            // A run's number is valid only within its results file.
            (_, "run_id") | ("run", "id") => {}
            // The partition already gives each row a column `host`, so this column gets another name.
            ("run", "host") => layout.source(index, Column { name: "host_facts".to_owned(), ..column }),
            _ => layout.source(index, column),
        }
    }
    if table.name == TRIAL.name {
        let cpu_model = facts.cpu_model.as_deref().map_or(Value::Null, Value::Text);
        let integer = |integer: Option<i64>| integer.map_or(Value::Null, Value::Integer);
        layout.constant(column("run_started_at_ms", Kind::Integer), Value::Integer(facts.started_at_ms));
        layout.constant(column("dyno_version", Kind::Text), Value::Text(&facts.dyno_version));
        layout.constant(column("cpu_model", Kind::Text), cpu_model);
        layout.constant(column("cpus", Kind::Integer), integer(facts.cpus));
        layout.constant(column("memory_bytes", Kind::Integer), integer(facts.memory_bytes));
    }
    layout
}

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.to_owned(), kind }
}
