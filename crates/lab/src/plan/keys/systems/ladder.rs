//! Ladders. A ladder is a chain of systems in which each system differs from the previous one by one change. The plan's
//! tables `[[ladder]]` arrange systems of the plan in ladders. A system may have tables `[[system.ladder]]`, each of
//! which adds one more system to the plan.

use std::collections::BTreeMap;

use dyno_settings::plain_name;
use dyno_store::LadderRecord;
use serde::Deserialize;

use crate::plan::keys::systems::sweep::Variant;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{At, Scalars, each};

/// A chain of systems, each with one change from the one before.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct LadderTable {
    /// Its name.
    id: String,
    /// The ids of its systems, from the first to the last.
    #[cfg_attr(test, schemars(extend("minItems" = 2, "uniqueItems" = true)))]
    systems: At<Vec<At<String>>>,
}

/// A system of a ladder: its changes of settings from the one before.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct RungTable {
    /// The end of its id, after that of the ladder and a dot.
    id: String,
    /// Server variables of this system and of those after it, until a later one sets them again.
    #[serde(default)]
    settings: Scalars,
}

impl LadderTable {
    fn read(self, systems: &[System]) -> Result<LadderRecord, Mistake> {
        let Self { id, systems: listed } = self;
        if listed.len() < 2 {
            return Err(listed.wrong(TOO_SHORT.to_owned()));
        }
        let mut ids: Vec<String> = Vec::new();
        for listed in listed.into_inner() {
            let id = listed.read(|id| {
                let known = || systems.iter().map(|system| &system.id);
                if !known().any(|known| *known == id) {
                    return Err(Problem::unknown("system", &id, known()));
                }
                if ids.contains(&id) {
                    let twice = format!("the ladder has the system `{id}` twice; leave one of them out");
                    return Err(Problem::Other(twice));
                }
                Ok(id)
            })?;
            ids.push(id);
        }
        Ok(LadderRecord { id, systems: ids })
    }
}

const TOO_SHORT: &str = "a ladder needs at least two systems";

/// Returns the ladders of systems with tables `[[system.ladder]]`, and then those of the plan's tables
/// `[[ladder]]`.
pub(in crate::plan) fn ladders(
    systems: &[System],
    tables: Vec<At<LadderTable>>,
) -> Result<Vec<LadderRecord>, Mistake> {
    let mut ladders: Vec<LadderRecord> = Vec::new();
    for system in systems.iter().filter(|system| system.control_of.is_none()) {
        let Some(id) = &system.ladder else { continue };
        match ladders.iter_mut().find(|ladder| ladder.id == *id) {
            Some(ladder) => ladder.systems.push(system.id.clone()),
            None => ladders.push(LadderRecord { id: id.clone(), systems: vec![system.id.clone()] }),
        }
    }
    each(ladders, tables, "ladder", |table, _| table.read(systems), |ladder| &ladder.id)
}

/// Returns the systems that the tables `[[system.ladder]]` make. `own` are the settings of the system's table.
pub(in crate::plan) fn rungs(
    tables: Vec<At<RungTable>>,
    own: &BTreeMap<String, String>,
) -> Result<Vec<Variant>, Mistake> {
    if let [only] = tables.as_slice() {
        return Err(only.wrong(TOO_SHORT.to_owned()));
    }
    let is_own = |setting: &str| own.keys().any(|own| plain_name(own) == plain_name(setting));
    let mut rungs: Vec<Variant> = Vec::new();
    for table in tables {
        let rung = table.read(|RungTable { id, settings: Scalars(settings) }| {
            if let Some(twice) = settings.keys().find(|setting| is_own(setting)) {
                return Err(format!("`{twice}` is in `settings` and in `ladder`; leave one of them out"));
            }
            let mut all = rungs.last().map_or_else(BTreeMap::new, |before| before.settings.clone());
            let is_new = |(setting, value): (&String, &String)| all.get(setting) != Some(value);
            if !rungs.is_empty() && !settings.iter().any(is_new) {
                return Err(format!("`{id}` does not differ from the one before it; give it `settings`"));
            }
            all.extend(settings);
            Ok(Variant { suffix: format!(".{id}"), settings: all, ..Variant::default() })
        })?;
        rungs.push(rung);
    }
    Ok(rungs)
}
