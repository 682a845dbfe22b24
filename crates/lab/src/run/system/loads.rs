//! Tracks which loads of a plan have made a system's tables, and finds the loads that a step needs.

use std::collections::BTreeMap;

use dyno_engine::SnapshotParts;
use serde_json::json;

use crate::job;
use crate::plan::{Plan, System};

/// The loads whose tables a system has, by step index, each with the origin of its tables.
#[derive(Debug, Default)]
pub(crate) struct Loads(BTreeMap<usize, Origin>);

/// Where the tables of a load come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The tables come from a measured load, or from a snapshot of its data.
    Measured,
    /// The load was repeated without measurement, because a later step needs its tables.
    Again,
}

/// Returns the loads that a step needs, in order. For each script, this is the last load of the script before the step.
/// If the step is itself a load, it is one of these loads.
pub(crate) fn foundation(plan: &Plan, step: usize) -> Vec<usize> {
    let is_load = |at: &usize| plan.steps[*at].is_load();
    let script = |at: usize| &plan.steps[at].script.name;
    let end = if is_load(&step) { step + 1 } else { step };
    let is_replaced = |at: usize| (at + 1..end).filter(is_load).any(|later| script(later) == script(at));
    (0..end).filter(is_load).filter(|&at| !is_replaced(at)).collect()
}

/// Returns the loads before the plan's first step that is not a load. In later rounds, fresh instances start with the
/// data of these loads.
pub(crate) fn initial_loads(plan: &Plan) -> Vec<usize> {
    let first = plan.steps.iter().position(|step| !step.is_load());
    match first.unwrap_or(plan.steps.len()) {
        0 => Vec::new(),
        loads => foundation(plan, loads - 1),
    }
}

impl Loads {
    /// Returns the loads that a step needs and whose tables are missing. If the step is itself a load, there are none.
    pub(crate) fn missing(&self, plan: &Plan, step: usize) -> Vec<usize> {
        if plan.steps[step].is_load() {
            return Vec::new();
        }
        foundation(plan, step).into_iter().filter(|load| !self.has(*load)).collect()
    }

    pub(crate) fn has(&self, load: usize) -> bool {
        self.0.contains_key(&load)
    }

    /// Records the end of a load. The tables of an earlier load of the same script are gone, even if this load
    /// failed.
    pub(crate) fn note(&mut self, plan: &Plan, load: usize, origin: Origin, succeeded: bool) {
        self.0.retain(|&other, _| plan.steps[other].script.name != plan.steps[load].script.name);
        if succeeded {
            self.0.insert(load, origin);
        }
    }

    /// Returns the ids of the loads that a step needs and that were repeated without measurement.
    pub(crate) fn loaded_again(&self, plan: &Plan, step: usize) -> Vec<String> {
        let loads = foundation(plan, step).into_iter();
        let again = loads.filter(|load| self.0.get(load) == Some(&Origin::Again));
        again.map(|load| plan.steps[load].id.clone()).collect()
    }

    /// Sets the loads whose tables the system has now.
    pub(crate) fn replace(&mut self, loads: &[usize]) {
        self.0 = loads.iter().map(|&load| (load, Origin::Measured)).collect();
    }
}

/// Returns the parts of the key of a snapshot that is made after `loads`. They are the parts of the system, and then
/// the script and the options of each load. The seed is not a part, because it does not matter which random rows the
/// tables have.
pub(crate) fn parts(
    system_parts: SnapshotParts,
    plan: &Plan,
    system: &System,
    loads: &[usize],
) -> SnapshotParts {
    let part = |parts: SnapshotParts, (place, &load): (usize, &usize)| {
        let step = &plan.steps[load];
        let recipe = json!([step.script.source, job::options(plan, system, &step.options)]);
        parts.with(&format!("load {place}"), &recipe.to_string())
    };
    loads.iter().enumerate().fold(system_parts, part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse};

    const LOAD: &str = "[[step]]\nid = \"load";

    /// Returns a plan with four steps. Steps 0 and 2 are loads of one script, step 1 is a load of another, and step
    /// 3 is not a load.
    fn plan() -> Plan {
        let load = |id: &str, workload: &str| {
            format!(
                "{LOAD}{id}\"\ngroup = \"load\"\ncommand = \"prepare\"\nworkload = \"{workload}\"\noperation = \"row\"\n"
            )
        };
        let more = load("2", "tpcc") + &load("3", "oltp_read_write");
        parse(&TEXT.replace("[[step]]\nid = \"read-write\"", &format!("{more}[[step]]\nid = \"read-write\"")))
            .unwrap()
    }

    #[test]
    fn a_step_stands_on_the_last_load_of_each_script() {
        let plan = plan();
        let foundations: Vec<_> = (0..4).map(|step| foundation(&plan, step)).collect();
        assert_eq!(foundations, [vec![0], vec![0, 1], vec![1, 2], vec![1, 2]]);
    }

    #[test]
    fn a_load_replaces_what_its_script_loaded_before() {
        let plan = plan();
        let mut loads = Loads::default();
        assert_eq!(loads.missing(&plan, 3), [1, 2]);
        loads.note(&plan, 0, Origin::Measured, true);
        loads.note(&plan, 1, Origin::Again, true);
        assert_eq!(loads.loaded_again(&plan, 1), ["load2"]);
        assert_eq!(loads.loaded_again(&plan, 3), ["load2"]);
        assert_eq!((loads.missing(&plan, 3), loads.missing(&plan, 2)), (vec![2], vec![]));
        loads.note(&plan, 2, Origin::Measured, true);
        assert!(loads.missing(&plan, 3).is_empty() && !loads.has(0));
        loads.note(&plan, 0, Origin::Measured, false);
        assert_eq!(loads.missing(&plan, 3), [2]);
    }

    #[test]
    fn other_rows_other_options_and_other_orders_are_other_data() {
        let plan = plan();
        let key = |plan: &Plan, loads: &[usize]| {
            parts(SnapshotParts::default(), plan, &plan.systems[0], loads).key()
        };
        assert_eq!(key(&plan, &[0]), key(&plan, &[2]));
        assert_ne!(key(&plan, &[0]), key(&plan, &[1]));
        assert_ne!(key(&plan, &[0, 1]), key(&plan, &[1, 0]));
        let twice = plan.scale_of("2").unwrap();
        assert_ne!(key(&plan, &[0]), key(&plan.clone().scaled(&twice), &[0]));
    }
}
