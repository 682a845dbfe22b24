//! Finds requested settings that a server did not apply as requested.

mod name;
mod number;
mod reports;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use self::name::Asked;
use self::reports::Reports;
use self::value::{Fit, fit};
use crate::audit::facts::SystemFacts;
use crate::drift::drift;
use crate::facts::product::Product;
use crate::facts::variables::SystemVariables;
use crate::files::knowledge::is_of_instance;
use crate::files::probes::plain_name;
use crate::translation::fixed_value;

/// A setting that a server did not apply as requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotInForce {
    /// The setting's name, as in the request.
    pub name: String,
    pub asked: String,
    /// The value that the server reports. `None` if the server has no such variable and therefore ignores the
    /// setting.
    pub found: Option<String>,
}

/// What a server's report shows about a requested setting.
enum Standing {
    InForce,
    /// The report does not show whether the setting is in force.
    Unknown,
    NotInForce(NotInForce),
}

impl SystemFacts {
    /// The settings that are not in force, sorted by name. Values are compared by their meaning. A setting that the
    /// server's report does not show counts as in force.
    pub fn not_in_force(&self) -> Vec<NotInForce> {
        let standings = self.asked.keys().map(|name| self.standing(name));
        let not = |standing| if let Standing::NotInForce(it) = standing { Some(it) } else { None };
        standings.filter_map(not).collect()
    }

    /// Returns the settings that are not in force, if they make two systems the same: different settings were requested
    /// for the two systems, but both servers report the same variables. Returns `None` if the systems differ, or if the
    /// same settings were requested.
    pub fn same_in_force(&self, other: &Self) -> Option<Vec<NotInForce>> {
        if self.product != other.product || self.limits != other.limits {
            return None;
        }
        let differing: BTreeSet<&String> = self
            .asked
            .keys()
            .chain(other.asked.keys())
            .filter(|name| self.asked.get(*name) != other.asked.get(*name))
            .collect();
        let mut settings: Vec<NotInForce> = Vec::new();
        for name in differing {
            for system in [self, other].into_iter().filter(|system| system.asked.contains_key(name)) {
                match system.standing(name) {
                    Standing::NotInForce(it) if settings.contains(&it) => {}
                    Standing::NotInForce(it) => settings.push(it),
                    Standing::InForce if !is_of_instance(self.product.family, &plain_name(name)) => {}
                    Standing::InForce | Standing::Unknown => return None,
                }
            }
        }
        (!settings.is_empty() && drift(&self.reported(), &other.reported()).is_empty()).then_some(settings)
    }

    /// Every variable that the server reports.
    pub fn reported(&self) -> SystemVariables {
        let pairs = self.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        SystemVariables::new(&self.id, self.product.clone(), pairs)
    }

    /// Whether a requested setting is in force. This is unknown for a server that has never started, because such a
    /// server reports nothing.
    fn standing(&self, name: &str) -> Standing {
        let Some(value) = self.asked.get(name).filter(|_| !self.variables.is_empty()) else {
            return Standing::Unknown;
        };
        let found = match Asked::of(self.product.family, name, value, &self.variables) {
            Asked::Variable { name, value } => {
                let fixed = in_place_of(&self.product, &name).or_else(|| fixed_value(&self.product, &name));
                let found = fixed.unwrap_or_else(|| self.variables[&name].clone());
                match fit(&self.product, &name, &value, &found) {
                    Fit::Yes => return Standing::InForce,
                    Fit::Unknown => return Standing::Unknown,
                    Fit::No => Some(found),
                }
            }
            Asked::Ignored => None,
            Asked::NotTold => return Standing::Unknown,
        };
        Standing::NotInForce(NotInForce { name: name.to_owned(), asked: value.clone(), found })
    }
}

/// The value that is in force in place of a variable that a version reports but does not use. `None` if the version
/// uses the variable.
pub(crate) fn in_place_of(product: &Product, variable: &str) -> Option<String> {
    Reports::of(product.family).in_place_of(product, variable).map(ToOwned::to_owned)
}

/// Whether setting a variable changes anything in a version.
pub fn has_effect(product: &Product, variable: &str) -> bool {
    in_place_of(product, variable).is_none() && fixed_value(product, variable).is_none()
}

/// Lists settings in a sentence.
pub(crate) fn list(settings: &[NotInForce]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Formats a setting as `max_connections = 90000 (the server has 866)`.
impl fmt::Display for NotInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ", self.name, self.asked)?;
        match &self.found {
            Some(found) if found.is_empty() => f.write_str("(the server has it empty)"),
            Some(found) => write!(f, "(the server has {found})"),
            None => f.write_str("(the server has no such setting and ignores it)"),
        }
    }
}
