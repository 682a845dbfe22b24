//! Keys of steps that depend on other keys, on earlier steps or on the systems.

use super::Step;
use crate::plan::keys::steps::command::Command;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{At, Whole};

/// Whether a system of a step has replicas.
pub(super) fn has_replicas(systems: &[System], not_for: &[String]) -> bool {
    systems.iter().any(|system| system.replication.is_some() && !not_for.contains(&system.id))
}

/// Returns the name if an earlier step has it, or an error otherwise.
pub(super) fn known(name: String, earlier: &[Step]) -> Result<String, Problem> {
    match earlier.iter().find(|step| step.id == name) {
        Some(_) => Ok(name),
        None => Err(Problem::unknown("earlier step", &name, earlier.iter().map(|step| &step.id))),
    }
}

pub(super) fn limit_io(limit_io: Option<At<bool>>, command: Command) -> Result<bool, Mistake> {
    match limit_io {
        Some(limit_io) if command != Command::Prepare => {
            Err(limit_io.wrong("I/O limits are lifted only for loads; leave `limit_io` out".to_owned()))
        }
        limit_io => Ok(limit_io.is_none_or(|limit_io| *limit_io)),
    }
}

pub(super) fn crashes(crashes: Option<At<Whole<1, 1000>>>, has_check: bool) -> Result<u32, Mistake> {
    match crashes {
        Some(crashes) if !has_check => Err(crashes.wrong(
            "nothing would be checked after a crash; add `check = true` to a step that runs".to_owned(),
        )),
        crashes => Ok(crashes.map_or(0, |crashes| crashes.0 as u32)),
    }
}

/// Returns the ids of the systems that do not run a step: the named systems, the systems of named sweeps and
/// ladders, and the controls of named systems and sweeps.
pub(super) fn not_for(
    list: Vec<At<String>>,
    command: Command,
    systems: &[System],
) -> Result<Vec<String>, Mistake> {
    let mut ids = Vec::new();
    for name in list {
        if command == Command::Prepare {
            return Err(name.wrong("a load is for all systems; leave `not_for` out".to_owned()));
        }
        let is_named = |system: &&System| {
            system.is_of(&name) || system.control_of.as_ref().is_some_and(|original| *original == *name)
        };
        let named: Vec<String> = systems.iter().filter(is_named).map(|system| system.id.clone()).collect();
        if named.is_empty() {
            return Err(name.wrong(Problem::unknown(
                "system",
                &name,
                systems.iter().map(|system| &system.id),
            )));
        }
        ids.extend(named);
        if systems.iter().all(|system| ids.contains(&system.id)) {
            return Err(name.wrong("`not_for` leaves the step without a system".to_owned()));
        }
    }
    Ok(ids)
}
