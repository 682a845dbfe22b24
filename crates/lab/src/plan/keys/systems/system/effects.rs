//! Refuses keys of a system that would have no effect. The error shows where in the file such a key is.

use std::collections::BTreeMap;

use dyno_engine::Family;
use dyno_host::Confinement;
use dyno_settings::plain_name;

use super::SystemTable;
use crate::plan::keys::systems::source::Source;
use crate::plan::keys::systems::sweep::pointless;
use crate::plan::syntax::mistake::Mistake;

/// Settings of MySQL and MariaDB that choose the storage engine of new tables. They have no effect, because
/// workloads name a storage engine when they create tables.
const OF_STORAGE_ENGINE: [&str; 2] = ["default_storage_engine", "storage_engine"];

/// The error for limits of a system without a server.
pub(super) const IN_PROCESS: &str =
    "this engine runs inside the load process, which cannot be confined; leave its `confinement` out";

/// The error for limits of the plan that would apply to a system without a server.
const PLAN_S_LIMITS: &str = "this engine runs inside the load process, which the plan's `[confinement]` cannot limit; write \
                             `confinement = {}` in this system to leave it without limits";

impl SystemTable {
    /// Returns an error if a key of the system has no effect, either because of other keys or because the system's
    /// engine cannot apply it. `of_plan` are the limits of systems that do not set their own limits.
    pub(super) fn check_effects(&self, source: &Source, of_plan: &Confinement) -> Result<(), Mistake> {
        if let (Some(price), Some(_)) = (&self.price, &self.dollars_per_hour) {
            let problem = "a system has a `price` or `dollars_per_hour`, not both; leave one of them out";
            return Err(price.wrong(problem.to_owned()));
        }
        if let (Some(share), None, None) = (&self.share_data, &self.sweep, &self.ladder) {
            return Err(share.wrong(pointless("share_data", "`sweep` or `ladder`")));
        }
        if let (Some(_), Some(ladder)) = (&self.sweep, &self.ladder) {
            return Err(ladder.wrong("a system has a `sweep` or a `ladder`, not both".to_owned()));
        }
        match (&self.sweep, &self.sweep_fraction, &self.sweep_seed) {
            (None, Some(fraction), _) => {
                return Err(fraction.wrong(pointless("sweep_fraction", "`sweep`")));
            }
            (_, None, Some(seed)) => return Err(seed.wrong(pointless("sweep_seed", "`sweep_fraction`"))),
            _ => {}
        }
        let limits = self.confinement.as_ref().filter(|limits| !limits.0.is_none());
        if let Some(limits) = limits.filter(|_| !source.family().has_server()) {
            return Err(limits.wrong(IN_PROCESS.to_owned()));
        }
        if self.confinement.is_none() && !of_plan.is_none() && !source.family().has_server() {
            return Err(PLAN_S_LIMITS.to_owned().into());
        }
        let Some(settings) = &self.settings else { return Ok(()) };
        without_effect(source, &settings.0).map_or(Ok(()), |problem| Err(settings.wrong(problem)))
    }
}

/// Returns why a setting has no effect on a system. `None` if every setting has an effect.
pub(super) fn without_effect(source: &Source, settings: &BTreeMap<String, String>) -> Option<String> {
    let is_mysqld = matches!(source.family(), Family::Mysql | Family::Mariadb);
    let mut known: BTreeMap<String, &String> = BTreeMap::new();
    for (name, value) in settings {
        let plain = plain_name(name);
        if is_mysqld && OF_STORAGE_ENGINE.contains(&plain.as_str()) {
            return Some(format!(
                "`{name}` does not change the tables of workloads, which name their storage engine; write \
                 `storage_engine = \"{value}\"` in the system instead"
            ));
        }
        if let Some(other) = known.insert(plain, name) {
            return Some(format!("`{other}` and `{name}` are the same setting; leave one of them out"));
        }
    }
    None
}
