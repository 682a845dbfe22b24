//! Knowledge of variables: `settings/variables/` and `settings/instance/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use dyno_engine::Family;
use serde::{Deserialize, Serialize};

use crate::files::data;

/// The topic of a variable. The topic tells why a difference between two servers matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// What survives a crash.
    Durability,
    /// Whether damage to data is prevented or noticed.
    Integrity,
    /// Whether two servers do the same work.
    Comparability,
    Rest,
}

/// Knowledge of a variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    pub group: Group,
    /// What the variable does, in one line.
    pub about: String,
    /// The variable's names in other versions.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Names of the counters and of the costs of an operation that the variable affects. `*` stands for any text.
    #[serde(default)]
    pub acts_on: Vec<String>,
}

/// Knowledge of the variables of related families.
#[derive(Debug)]
struct Language {
    known: BTreeMap<String, Knowledge>,
    names: BTreeMap<String, String>,
    of_instance: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Instance {
    names: BTreeSet<String>,
}

static MYSQL: LazyLock<Language> = LazyLock::new(|| Language::read("mysql"));
static POSTGRES: LazyLock<Language> = LazyLock::new(|| Language::read("postgres"));
static SQLITE: LazyLock<Language> = LazyLock::new(|| Language::read("sqlite"));

/// Knowledge of a family's variable, by any of its names. `None` if nothing is known about it.
pub fn knowledge(family: Family, name: &str) -> Option<&'static Knowledge> {
    let language = language(family);
    language.known.get(language.names.get(name).map_or(name, String::as_str))
}

/// The known variables of a family, by their newest names.
pub(crate) fn known(family: Family) -> impl Iterator<Item = (&'static str, &'static Knowledge)> {
    language(family).known.iter().map(|(name, knowledge)| (name.as_str(), knowledge))
}

/// A variable's newest name.
pub fn newest_name(family: Family, name: &str) -> &str {
    language(family).names.get(name).map_or(name, String::as_str)
}

/// Returns whether a variable has a different value on every server, so that a difference means nothing.
pub(crate) fn is_of_instance(family: Family, name: &str) -> bool {
    language(family).of_instance.contains(name)
}

/// Whether two families have the same variables.
pub(crate) fn speak_alike(a: Family, b: Family) -> bool {
    std::ptr::eq(language(a), language(b))
}

fn language(family: Family) -> &'static Language {
    match family {
        Family::Mysql | Family::Mariadb => &MYSQL,
        Family::Postgres => &POSTGRES,
        Family::Sqlite => &SQLITE,
    }
}

impl Language {
    fn read(name: &str) -> Self {
        let known: BTreeMap<String, Knowledge> = parse("variables", name);
        let alias = |(name, knowledge): (&String, &Knowledge)| -> Vec<(String, String)> {
            knowledge.aliases.iter().map(|alias| (alias.clone(), name.clone())).collect()
        };
        let names = known.iter().flat_map(alias).collect();
        Self { names, of_instance: parse::<Instance>("instance", name).names, known }
    }
}

fn parse<T: for<'de> Deserialize<'de>>(folder: &str, name: &str) -> T {
    let files = data::files(folder);
    let text = files.iter().find(|(file, _)| *file == name).map_or("", |(_, text)| *text);
    toml::from_str(text).unwrap_or_else(|error| panic!("settings/{folder}/{name}.toml: {error}"))
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Durability => "durability",
            Self::Integrity => "integrity",
            Self::Comparability => "comparability",
            Self::Rest => "the rest",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILIES: [Family; 3] = [Family::Mysql, Family::Postgres, Family::Sqlite];

    #[test]
    fn a_variable_is_known_by_all_its_names() {
        let known = knowledge(Family::Mysql, "tx_isolation").unwrap();
        assert_eq!(known.about, knowledge(Family::Mariadb, "transaction_isolation").unwrap().about);
        assert_eq!(newest_name(Family::Mysql, "tx_isolation"), "transaction_isolation");
        assert_eq!(newest_name(Family::Mysql, "port"), "port");
        assert!(knowledge(Family::Postgres, "tx_isolation").is_none());
    }

    #[test]
    fn every_line_fits_a_page_and_ends_without_a_stop() {
        for family in FAMILIES {
            for (name, knowledge) in known(family) {
                let about = &knowledge.about;
                assert!(knowledge.group != Group::Rest, "{name} is known, so it is not of the rest");
                assert!((10..=115).contains(&about.len()), "{name}: {about}: {}", about.len());
                assert!(!about.ends_with('.'), "{name}: {about}");
                assert!(!is_of_instance(family, name), "{name} is known and passed over");
            }
        }
    }
}
