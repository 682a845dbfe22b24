//! An entry of `settings/tune/`: a setting with its choices or bounds.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::TuneRoom;
use crate::audit::facts::SystemFacts;
use crate::facts::product::Product;
use crate::facts::value::bytes;
use crate::files::data;
use crate::profile::Section;

/// A setting that a search may try.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// The setting's newest name.
    pub(super) name: String,
    values: Values,
    /// The unit in which a size is written.
    #[serde(default)]
    unit: Unit,
    /// Whether each client takes this amount, so that all clients together take a multiple of it.
    #[serde(default)]
    per_client: bool,
    pub(super) why: String,
    pub(super) gives_up: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Values {
    Choices(Vec<String>),
    Numbers(Bounds<f64>),
    /// Sizes such as `16M`, at most half of the memory.
    Bytes(Bounds<String>),
    /// Shares of the memory.
    OfMemory(Bounds<f64>),
}

/// Values between two bounds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds<T> {
    from: T,
    to: T,
    /// Number of values, including both ends. At least 2.
    steps: u32,
    scale: Scale,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scale {
    /// The ratio of neighbouring values is constant.
    Log,
    /// The difference between neighbouring values is constant.
    Linear,
}

/// The unit in which a size is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Unit {
    /// As a number without a unit.
    #[default]
    None,
    K,
    M,
    #[serde(rename = "MB")]
    Mb,
    /// KiB with a minus sign, as for SQLite's `cache_size`.
    #[serde(rename = "-KiB")]
    MinusKib,
}

/// A value that may be tried.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Possible {
    pub(super) value: String,
    /// The number for which the text stands; `None` for a word.
    pub(super) amount: Option<f64>,
}

/// The entries, by section.
static ENTRIES: LazyLock<BTreeMap<String, Vec<Entry>>> = LazyLock::new(|| data::tables("tune"));

/// The entries for a product. Entries for its storage engine come before entries for the server.
pub(super) fn entries(product: &Product) -> impl Iterator<Item = &'static Entry> {
    let of_product = Section::ALL.into_iter().rev().filter(|section| section.applies_to(product));
    of_product.filter_map(|section| ENTRIES.get(section.name())).flatten()
}

impl Entry {
    /// The values that may be tried with this memory and number of clients.
    pub(super) fn possible(&self, room: TuneRoom) -> Vec<Possible> {
        let memory_bytes = room.memory_bytes as f64;
        let clients = if self.per_client { f64::from(room.clients.max(1)) } else { 1.0 };
        let amounts = match &self.values {
            Values::Choices(choices) => {
                return choices.iter().map(|value| Possible { value: value.clone(), amount: None }).collect();
            }
            Values::Numbers(bounds) => bounds.amounts(|number| Some(*number)),
            Values::Bytes(bounds) => {
                let mut amounts = bounds.amounts(|size| Some(bytes(size)? as f64));
                amounts.retain(|amount| amount * clients <= memory_bytes / 2.0);
                amounts
            }
            Values::OfMemory(bounds) => bounds.amounts(|share| Some(share * memory_bytes / clients)),
        };
        amounts
            .into_iter()
            .map(|amount| Possible { value: self.unit.write(amount), amount: Some(amount) })
            .collect()
    }

    /// A system's own value of the setting, as a number. `None` if the value is not a number above 0.
    pub(super) fn amount_of(&self, system: &SystemFacts) -> Option<f64> {
        let amount = match (self.unit, self.name.as_str()) {
            (Unit::MinusKib, _) => system.cache_bytes(),
            (_, "innodb_redo_log_capacity") => system.log_bytes(),
            (_, name) => system.bytes(name),
        };
        amount.map(|amount| amount as f64).filter(|amount| *amount > 0.0)
    }
}

impl<T> Bounds<T> {
    /// The values as numbers. Empty if one of the ends is not a number.
    fn amounts(&self, number: impl Fn(&T) -> Option<f64>) -> Vec<f64> {
        let (Some(from), Some(to)) = (number(&self.from), number(&self.to)) else { return Vec::new() };
        let last = f64::from(self.steps.max(2) - 1);
        let at = |step: u32| {
            let share = f64::from(step) / last;
            match self.scale {
                Scale::Log => from * (to / from).powf(share),
                Scale::Linear => from + (to - from) * share,
            }
        };
        (0..self.steps.max(2)).map(at).collect()
    }
}

impl Unit {
    fn write(self, amount: f64) -> String {
        let whole = |unit_bytes: f64| (amount / unit_bytes).round().max(1.0);
        match self {
            Self::None => format!("{}", amount.round()),
            Self::K => format!("{}K", whole(1024.0)),
            Self::M => format!("{}M", whole(1024.0 * 1024.0)),
            Self::Mb => format!("{}MB", whole(1024.0 * 1024.0)),
            Self::MinusKib => format!("-{}", whole(1024.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dyno_engine::Family;

    use super::*;
    use crate::translation::known_settings;

    #[test]
    fn every_entry_is_a_known_setting_with_bounds_that_make_sense() {
        for (section, entries) in &*ENTRIES {
            for Entry { name, values, why, .. } in entries {
                let families = [Family::Mysql, Family::Mariadb, Family::Postgres, Family::Sqlite];
                let is_known =
                    families.iter().any(|family| known_settings(*family).any(|known| known == name));
                assert!(is_known, "[{section}]: {name} is not in the translation table");
                assert!((10..=115).contains(&why.len()) && !why.ends_with('.'), "{name}: {why}");
                let (from, to, steps) = match values {
                    Values::Choices(choices) => {
                        assert!(!choices.is_empty(), "{name}");
                        continue;
                    }
                    Values::Numbers(bounds) | Values::OfMemory(bounds) => {
                        (bounds.from, bounds.to, bounds.steps)
                    }
                    Values::Bytes(Bounds { from, to, steps, .. }) => {
                        (bytes(from).unwrap() as f64, bytes(to).unwrap() as f64, *steps)
                    }
                };
                assert!(0.0 < from && from < to && steps >= 2, "{name}");
                assert!(!matches!(values, Values::OfMemory(bounds) if bounds.to >= 1.0), "{name}");
            }
        }
        let sections: BTreeSet<&str> = ENTRIES.keys().map(String::as_str).collect();
        assert_eq!(sections, Section::ALL.into_iter().map(Section::name).collect());
    }

    #[test]
    fn bounds_are_divided_by_their_scale_and_written_in_their_unit() {
        let amounts = |text: &str| {
            let bounds: Bounds<f64> = toml::from_str(text).unwrap();
            bounds.amounts(|number| Some(*number))
        };
        assert_eq!(amounts("from = 100\nto = 10000\nsteps = 3\nscale = 'log'"), [100.0, 1000.0, 10000.0]);
        assert_eq!(amounts("from = 1\nto = 2\nsteps = 3\nscale = 'linear'"), [1.0, 1.5, 2.0]);
        let size = 3.0 * 1024.0 * 1024.0;
        for (unit, written) in [
            (Unit::None, "3145728"),
            (Unit::K, "3072K"),
            (Unit::M, "3M"),
            (Unit::Mb, "3MB"),
            (Unit::MinusKib, "-3072"),
        ] {
            assert_eq!(unit.write(size), written);
        }
    }
}
