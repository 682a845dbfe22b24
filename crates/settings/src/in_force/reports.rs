//! How servers report their settings: `settings/in_force/`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use dyno_engine::Family;
use serde::Deserialize;

use crate::facts::product::{Product, Version};
use crate::files::data;

/// The ways in which a family's servers report a setting differently from the request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Reports {
    /// Options that set no variable.
    without_variable: Vec<String>,
    /// Variables for which servers report another value than the one that was set.
    reported_otherwise: Vec<String>,
    /// Variables for which the server may use a larger value than the requested one.
    at_least: Vec<String>,
    /// For each option whose variable has another name in every version, the name of the variable.
    renamed: BTreeMap<String, String>,
    /// Variables that some versions do not use.
    without_effect: Vec<WithoutEffect>,
    /// For each variable, the values that let the server choose the actual value, such as `auto`.
    auto: BTreeMap<String, Vec<String>>,
    /// For each variable, the share by which the reported size may differ from the requested size.
    off_by: BTreeMap<String, f64>,
    /// For each variable whose words can be written as numbers, the words in the order of their numbers, from 0.
    words: BTreeMap<String, Vec<String>>,
    /// For each variable, pairs of words that mean the same.
    same: BTreeMap<String, Vec<[String; 2]>>,
}

/// Variables that some versions of a family report as they were set, but do not use.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithoutEffect {
    variables: Vec<String>,
    family: Family,
    /// The first version that does not use the variables.
    since: Version,
    /// The value that is in force in place of each of the variables.
    value: String,
}

static ALL: LazyLock<BTreeMap<&str, Reports>> = LazyLock::new(|| data::values("in_force"));

impl Reports {
    pub(super) fn of(family: Family) -> &'static Self {
        &ALL[match family {
            Family::Mysql | Family::Mariadb => "mysql",
            Family::Postgres => "postgres",
            Family::Sqlite => "sqlite",
        }]
    }

    pub(super) fn has_no_variable(&self, option: &str) -> bool {
        self.without_variable.iter().any(|known| is_named(known, option))
    }

    pub(super) fn are_otherwise(&self, variable: &str) -> bool {
        self.reported_otherwise.iter().any(|known| is_named(known, variable))
    }

    pub(super) fn may_be_more(&self, variable: &str) -> bool {
        self.at_least.iter().any(|known| known == variable)
    }

    pub(super) fn variable_of(&self, option: &str) -> Option<&str> {
        self.renamed.get(option).map(String::as_str)
    }

    /// The value that is in force in place of a variable that the version does not use.
    pub(super) fn in_place_of(&self, product: &Product, variable: &str) -> Option<&str> {
        let holds = |it: &&WithoutEffect| {
            it.family == product.family
                && product.version.is_since(&it.since)
                && it.variables.iter().any(|known| known == variable)
        };
        self.without_effect.iter().find(holds).map(|it| it.value.as_str())
    }

    /// Whether a value lets the server choose.
    pub(super) fn is_auto(&self, variable: &str, value: &str) -> bool {
        let is_word = ["auto", "autosize", "default"].iter().any(|word| value.eq_ignore_ascii_case(word));
        let is_special =
            || self.auto.get(variable).is_some_and(|values| values.iter().any(|known| known == value));
        is_word || value == "-1" || is_special()
    }

    /// Returns the share by which a variable's reported value may differ from the requested value. It is 0 for most
    /// variables.
    pub(super) fn off_by(&self, variable: &str) -> f64 {
        self.off_by.get(variable).copied().unwrap_or(0.0)
    }

    pub(super) fn words(&self, variable: &str) -> Option<&[String]> {
        self.words.get(variable).map(Vec::as_slice)
    }

    pub(super) fn mean_the_same(&self, variable: &str, one: &str, other: &str) -> bool {
        let is_pair = |[a, b]: &[String; 2]| {
            a.eq_ignore_ascii_case(one) && b.eq_ignore_ascii_case(other)
                || a.eq_ignore_ascii_case(other) && b.eq_ignore_ascii_case(one)
        };
        self.same.get(variable).is_some_and(|pairs| pairs.iter().any(is_pair))
    }
}

/// Whether `name` equals `known`. If `known` ends in `*`, whether `name` begins with the text before the `*`.
fn is_named(known: &str, name: &str) -> bool {
    known.strip_suffix('*').map_or(known == name, |prefix| name.starts_with(prefix))
}
