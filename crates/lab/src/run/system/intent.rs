//! How a plan uses the databases of servers that Dyno did not start.

use dyno_engine::Dsn;

use crate::plan::{Plan, Source, Step, System};

/// How a run uses a database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intent {
    /// Whether the plan loads tables.
    pub(crate) loads: bool,
    /// Whether loads may drop tables that Dyno did not make.
    pub(crate) may_drop: bool,
    /// Whether the loaded tables stay after the run.
    pub(crate) keeps: bool,
}

impl Intent {
    /// Returns how a run uses a system's database. Loads may drop tables only if all systems with this database allow
    /// it. Tables stay if any of these systems keeps its tables.
    pub(crate) fn of(plan: &Plan, system: &System, dsn: &Dsn) -> Self {
        let place_of_all = place(system, dsn);
        let mut intent = Self { loads: loads(plan), may_drop: true, keeps: false };
        for system in &plan.systems {
            if let Source::Dsn { dsn, may_drop, keep_data, .. } = &system.source
                && place(system, dsn) == place_of_all
            {
                intent.may_drop &= may_drop;
                intent.keeps |= keep_data;
            }
        }
        intent
    }
}

/// Whether a plan loads tables.
pub(crate) fn loads(plan: &Plan) -> bool {
    plan.steps.iter().any(Step::is_load)
}

/// Returns the systems of a plan whose servers run already.
pub(crate) fn running(plan: &Plan) -> impl Iterator<Item = (&System, &Dsn)> {
    plan.systems.iter().filter_map(|system| match &system.source {
        Source::Dsn { dsn, .. } => Some((system, dsn.as_ref())),
        _ => None,
    })
}

/// Identifies the database of a system on its server. If the system's address names no database, Dyno makes one
/// database for each system.
pub(crate) fn place(system: &System, dsn: &Dsn) -> String {
    if dsn.names_database() { dsn.place() } else { format!("{} {}", dsn.place(), system.id) }
}
