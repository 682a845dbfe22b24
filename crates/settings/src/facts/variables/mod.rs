//! Variables of a server, with the origins of their values.

mod origin;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::origin::{Reading, readings};
use crate::facts::product::Product;

/// The variables of one system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemVariables {
    pub label: String,
    pub product: Product,
    /// The variables, by the server's own names in lower case.
    pub variables: BTreeMap<String, Variable>,
}

/// A variable of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The value as the server prints it.
    pub value: String,
    /// Where the value comes from.
    pub origin: Origin,
    /// The default value, if the server reports it.
    pub default: Option<String>,
}

/// Where a variable's value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    Default,
    Set,
    /// Computed by the server, or when its data folder was set up.
    Computed,
    /// Fixed for the version, which has no such variable.
    Fixed,
    /// The server does not report the origin.
    #[default]
    Unknown,
}

impl SystemVariables {
    /// A system's variables as names and values, with unknown origins.
    pub fn new(
        label: impl Into<String>,
        product: Product,
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let variable = |value| Variable { value, ..Variable::default() };
        let variables = pairs.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), variable(value)));
        Self { label: label.into(), product, variables: variables.collect() }
    }

    /// Marks variables that were set on the command line, for servers that do not report the origin.
    pub fn mark_set<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        let set: BTreeSet<String> = names.into_iter().map(|name| name.replace('-', "_")).collect();
        for (name, variable) in &mut self.variables {
            if set.contains(name) {
                variable.origin = Origin::Set;
            }
        }
    }
}
