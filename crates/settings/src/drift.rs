//! Differences between the variables of two servers.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::facts::value::normal;
use crate::facts::variables::{Origin, SystemVariables, Variable};
use crate::files::knowledge::{Group, is_of_instance, knowledge, known, newest_name, speak_alike};
use crate::in_force::in_place_of;
use crate::translation::fixed_value;

/// A variable with different values on two servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub name: String,
    pub group: Group,
    /// What the variable does, if it is an important one.
    pub about: Option<String>,
    /// Names of counters and costs that the variable affects, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts_on: Vec<String>,
    /// The first server's value; `None` if the server has no such variable.
    pub a: Option<Side>,
    pub b: Option<Side>,
}

/// The value that one of two servers has.
pub type Side = Variable;

/// All variables that differ between two servers, by group and name. A variable that one of the servers lacks
/// differs too. Variables that always differ (ports, paths, identities) are left out. Servers of different families
/// have few variables in common, so only the important variables are compared.
pub fn drift(a: &SystemVariables, b: &SystemVariables) -> Vec<Difference> {
    let is_kin = speak_alike(a.product.family, b.product.family);
    let mut differences: Vec<Difference> = names(a)
        .union(&names(b))
        .filter_map(|name| difference(name, a, b))
        .filter(|difference| is_kin || difference.group != Group::Rest)
        .collect();
    differences.sort_by(|one, other| (one.group, &one.name).cmp(&(other.group, &other.name)));
    differences
}

/// The newest names of a server's variables, and of all known variables of its family.
fn names(system: &SystemVariables) -> BTreeSet<&str> {
    let family = system.product.family;
    let own = system.variables.keys().filter(|name| !is_of_instance(family, name));
    let named = own.map(|name| newest_name(family, name));
    named.chain(known(family).map(|(name, _)| name)).collect()
}

fn difference(name: &str, a: &SystemVariables, b: &SystemVariables) -> Option<Difference> {
    let known = knowledge(a.product.family, name).or_else(|| knowledge(b.product.family, name));
    let (a, b) = (side(name, a), side(name, b));
    let value = |side: &Option<Side>| side.as_ref().map(|side| normal(&side.value));
    (value(&a) != value(&b)).then(|| Difference {
        name: name.to_owned(),
        group: known.map_or(Group::Rest, |known| known.group),
        about: known.map(|known| known.about.clone()),
        acts_on: known.map(|known| known.acts_on.clone()).unwrap_or_default(),
        a,
        b,
    })
}

/// A variable by its newest name. Its value is reported by the server, derived from other variables, or fixed for
/// the version.
fn side(name: &str, system: &SystemVariables) -> Option<Side> {
    let family = system.product.family;
    let aliases = knowledge(family, name).map_or(&[][..], |known| &known.aliases);
    let mut names = std::iter::once(name).chain(aliases.iter().map(String::as_str));
    let reported = names.find_map(|name| system.variables.get(name).cloned());
    // The server's variable does not always show the real size, so the computed size has priority.
    let total = total_redo(name, system);
    let total = total.filter(|total| reported.as_ref().is_none_or(|reported| reported.value != total.value));
    total.or(reported).or_else(|| {
        let value = fixed_value(&system.product, name)?;
        Some(Variable { value, origin: Origin::Fixed, default: None })
    })
}

/// Returns the total size of the redo log, if `name` is the variable for this size.
fn total_redo(name: &str, system: &SystemVariables) -> Option<Side> {
    let reported = |name: &str| system.variables.get(name).map(|variable| variable.value.clone());
    let value = |name: &str| in_place_of(&system.product, name).or_else(|| reported(name));
    if name != "innodb_redo_log_capacity" {
        return None;
    }
    let bytes = crate::audit::facts::redo_log_bytes(value)?;
    Some(Variable { value: bytes.to_string(), origin: Origin::Computed, default: None })
}

impl Difference {
    /// Returns both values as text. If the values are long lists, only the items that differ are returned.
    pub fn values(&self) -> (Option<String>, Option<String>) {
        let (Some(a), Some(b)) = (&self.a, &self.b) else {
            let value = |side: &Option<Side>| side.as_ref().map(|side| side.value.clone());
            return (value(&self.a), value(&self.b));
        };
        (Some(without(&a.value, &b.value)), Some(without(&b.value, &a.value)))
    }
}

/// A list without the items of another list. A short list or a single value is unchanged.
fn without(list: &str, other: &str) -> String {
    const FEW: usize = 3;
    let items = |list: &str| list.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>();
    let (mine, theirs) = (items(list), items(other));
    if mine.len().max(theirs.len()) <= FEW {
        return list.to_owned();
    }
    let own: Vec<String> = mine.into_iter().filter(|item| !theirs.contains(item)).collect();
    own.join(",")
}
