//! Values of options whose text has been checked against their kind.

use std::collections::BTreeMap;

use dyno_script::{parse_flag, parse_number, parse_numbers};

use super::definition::Definition;
use super::general;

/// Values by name. Options that are not given have their defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    given: BTreeMap<&'static str, String>,
    /// Options that only one test has.
    own: &'static [Definition],
}

impl Values {
    /// Values of a built-in test's own options. Each option has its default until it is [`set`](Self::set).
    pub(crate) fn of_test(options: &'static [Definition]) -> Self {
        Self { given: BTreeMap::new(), own: options }
    }

    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.given.insert(name, value.to_owned());
    }

    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// All options that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.given.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The value as text; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        let own = || self.own.iter().find(|option| option.name == name);
        self.given
            .get(name)
            .map(String::as_str)
            .or_else(|| {
                own()
                    .or_else(|| general::find(name).map(|option| &option.definition))
                    .and_then(|option| option.default)
            })
            .unwrap_or_default()
    }

    /// The value as text, if it is not empty.
    pub(crate) fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        parse_flag(self.text(name)).unwrap_or_default()
    }

    pub(crate) fn whole(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> f64 {
        parse_number(self.text(name)).unwrap_or_default()
    }

    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        parse_numbers(self.text(name)).unwrap_or_default()
    }

    /// A list of comma-separated texts.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        self.text(name).split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }
}
