//! The system keys `sweep`, `sweep_fraction` and `sweep_seed`. They turn one system into several systems that differ
//! in settings or limits.

mod fraction;

use std::collections::BTreeMap;

use dyno_store::{Configuration, FactorLevel};
use serde::Deserialize;

use self::fraction::balanced;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Scalar, Scalars, Whole};

/// Maximum number of configurations of a sweep. The limit catches typing errors.
const CONFIGURATIONS_MAX: usize = 1000;
/// The prefix that marks a setting of a sweep as a limit of `[confinement]`.
const LIMIT: &str = "confinement.";
/// Default of `sweep_seed`.
const SEED: u64 = 1;

pub(in crate::plan) type Seed = Whole<0, { i64::MAX as u64 }>;

/// The key `sweep`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::plan) enum SweepKey {
    #[serde(rename = "a table")]
    #[cfg_attr(test, schemars(untagged))]
    Crossed(BTreeMap<String, At<FactorKey>>),
    #[serde(rename = "a list")]
    #[cfg_attr(test, schemars(untagged))]
    Listed(Vec<At<Scalars>>),
}

/// A factor of a sweep: its levels, or a table with the settings that take them.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::plan) enum FactorKey {
    #[serde(rename = "a list")]
    #[cfg_attr(test, schemars(untagged))]
    Levels(Vec<Scalar>),
    #[serde(rename = "a table")]
    #[cfg_attr(test, schemars(untagged))]
    Table(FactorTable),
}

/// A factor whose levels several settings take together.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct FactorTable {
    /// Settings that all get the level: server variables, or limits as `confinement.iops`.
    settings: Vec<String>,
    /// The values to try.
    levels: Vec<Scalar>,
}

/// The keys of a system that set its sweep.
pub(in crate::plan) struct Keys {
    pub(in crate::plan) sweep: Option<At<SweepKey>>,
    pub(in crate::plan) fraction: Option<At<Above0>>,
    pub(in crate::plan) seed: Option<At<Seed>>,
}

/// What a sweep or a ladder changes in a system. Each variant makes one system.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::plan) struct Variant {
    /// The end of the new system's id. Empty if the system has no sweep and no ladder.
    pub(in crate::plan) suffix: String,
    /// The factors of the sweep with the system's levels. `None` if there is no sweep.
    pub(in crate::plan) configuration: Option<Configuration>,
    /// New values of server variables.
    pub(in crate::plan) settings: BTreeMap<String, String>,
    /// New values of keys of `[confinement]`.
    pub(in crate::plan) limits: BTreeMap<String, String>,
}

/// A factor of a sweep, and the settings that take its levels.
struct Factor {
    name: String,
    settings: Vec<String>,
    levels: Vec<String>,
}

impl Keys {
    /// Returns the variants that the sweep makes of the system `id`. Without a sweep, there is one variant, without
    /// changes. Keys that have no effect without a sweep have been refused before.
    pub(in crate::plan) fn variants(self, id: &str) -> Result<Vec<Variant>, Mistake> {
        let Some(sweep) = self.sweep else { return Ok(vec![Variant::default()]) };
        let (fraction, seed) = (self.fraction, self.seed);
        sweep.read(|sweep| match sweep {
            SweepKey::Crossed(factors) => crossed(factors)?.choose(id, fraction, seed),
            SweepKey::Listed(list) => match fraction {
                None => listed(list, id),
                Some(fraction) => {
                    Err(fraction.wrong(pointless("sweep_fraction", "a `sweep` that is a table")))
                }
            },
        })
    }
}

pub(in crate::plan) fn pointless(key: &str, without: &str) -> String {
    format!("`{key}` has no effect without {without}; add that, or leave this out")
}

/// Factors in the order of the file. A sweep combines each level of a factor with all levels of the others.
struct Crossed(Vec<Factor>);

const NOTHING_SWEPT: &str = "`sweep` names no setting; add one, or leave `sweep` out";

fn crossed(factors: BTreeMap<String, At<FactorKey>>) -> Result<Crossed, Mistake> {
    if factors.is_empty() {
        return Err(NOTHING_SWEPT.to_owned().into());
    }
    let mut factors: Vec<(String, At<FactorKey>)> = factors.into_iter().collect();
    factors.sort_by_key(|(_, factor)| factor.span().start);
    let mut read: Vec<Factor> = Vec::new();
    for (key, factor) in factors {
        read.push(factor.read(|factor| {
            let (settings, levels) = match factor {
                FactorKey::Levels(levels) => (vec![key.clone()], levels),
                FactorKey::Table(table) => (table.settings, table.levels),
            };
            let factor = Factor {
                name: key.strip_prefix(LIMIT).unwrap_or(&key).to_owned(),
                settings,
                levels: levels.into_iter().map(Scalar::into_inner).collect(),
            };
            factor.check(&read).map(|()| factor)
        })?);
    }
    Ok(Crossed(read))
}

impl Factor {
    fn check(&self, earlier: &[Self]) -> Result<(), Problem> {
        let twice =
            |what: &str| Err(Problem::Other(format!("the sweep has {what} twice; leave one of them out")));
        if let Some(level) = first_repeated(&self.levels) {
            return twice(&format!("the level `{level}` of `{}`", self.name));
        }
        let settings: Vec<&String> =
            earlier.iter().flat_map(|factor| &factor.settings).chain(&self.settings).collect();
        match first_repeated(&settings) {
            Some(setting) => twice(&format!("the setting `{setting}`")),
            None => Ok(()),
        }
    }
}

fn first_repeated<T: PartialEq>(items: &[T]) -> Option<&T> {
    items.iter().enumerate().find(|(at, item)| items[..*at].contains(item)).map(|(_, item)| item)
}

impl Crossed {
    /// Returns all combinations of levels, or a balanced fraction of them.
    fn choose(
        self,
        id: &str,
        fraction: Option<At<Above0>>,
        seed: Option<At<Seed>>,
    ) -> Result<Vec<Variant>, Mistake> {
        let counts: Vec<usize> = self.0.iter().map(|factor| factor.levels.len()).collect();
        let all = counts.iter().try_fold(1_usize, |product, count| product.checked_mul(*count));
        let Some(all) = all.filter(|all| *all <= CONFIGURATIONS_MAX) else {
            return Err(format!("the sweep has more than {CONFIGURATIONS_MAX} configurations").into());
        };
        let chosen = match fraction {
            None => (0..all).collect(),
            Some(fraction) if fraction.0 > 1.0 => {
                let wanted = "above 0, at most 1".to_owned();
                return Err(fraction.wrong(Problem::OutOfRange { key: "sweep_fraction".to_owned(), wanted }));
            }
            Some(fraction) => {
                let wanted = (fraction.0 * all as f64).ceil() as usize;
                balanced(&counts, wanted, seed.map_or(SEED, |seed| seed.into_inner().0))
            }
        };
        Ok(chosen.into_iter().map(|at| self.variant(id, at)).collect())
    }

    /// Returns the combination with the number `at`. As the number grows, the level of the last factor changes fastest.
    fn variant(&self, id: &str, mut at: usize) -> Variant {
        let mut variant = Variant::of(id);
        let mut levels = Vec::new();
        for factor in self.0.iter().rev() {
            let level = &factor.levels[at % factor.levels.len()];
            at /= factor.levels.len();
            levels.push((factor.name.as_str(), level.as_str()));
            for setting in &factor.settings {
                variant.set(setting, level);
            }
        }
        levels.reverse();
        variant.named(&levels)
    }
}

/// Reads a list of configurations. All configurations must set the same settings.
fn listed(list: Vec<At<Scalars>>, id: &str) -> Result<Vec<Variant>, Mistake> {
    let settings: Vec<String> = list[0].0.keys().cloned().collect();
    if settings.is_empty() {
        return Err(NOTHING_SWEPT.to_owned().into());
    }
    let read = |configuration: At<Scalars>| {
        configuration.read(|Scalars(values)| {
            if let Some(missing) = settings.iter().find(|setting| !values.contains_key(*setting)) {
                return Err(format!(
                    "a configuration of a sweep sets what the first one sets; add `{missing}`"
                ));
            }
            if let Some(other) = values.keys().find(|setting| !settings.contains(setting)) {
                return Err(format!("the first configuration of the sweep has no `{other}`; add it there"));
            }
            let mut variant = Variant::of(id);
            for (setting, value) in &values {
                variant.set(setting, value);
            }
            let name = |setting: &'_ String| setting.strip_prefix(LIMIT).unwrap_or(setting).to_owned();
            let names: Vec<(String, &String)> =
                values.iter().map(|(setting, value)| (name(setting), value)).collect();
            Ok(variant.named(
                &names.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>(),
            ))
        })
    };
    list.into_iter().map(read).collect()
}

impl Variant {
    fn of(sweep: &str) -> Self {
        let configuration = Configuration { sweep: sweep.to_owned(), levels: Vec::new() };
        Self { configuration: Some(configuration), ..Self::default() }
    }

    fn set(&mut self, setting: &str, level: &str) {
        match setting.strip_prefix(LIMIT) {
            Some(limit) => self.limits.insert(limit.to_owned(), level.to_owned()),
            None => self.settings.insert(setting.to_owned(), level.to_owned()),
        };
    }

    /// Adds the levels of factors to the id, such as `.instances-8.depth-4000`. The addition has only characters
    /// that claims accept without quotation marks.
    fn named(mut self, levels: &[(&str, &str)]) -> Self {
        let plain = |text: &str| -> String {
            text.chars().map(|c| if c.is_alphanumeric() || ".-@".contains(c) { c } else { '_' }).collect()
        };
        for (factor, level) in levels {
            self.suffix.extend([".", &plain(factor), "-", &plain(level)]);
        }
        if let Some(configuration) = &mut self.configuration {
            configuration.levels = levels
                .iter()
                .map(|(factor, level)| FactorLevel {
                    factor: (*factor).to_owned(),
                    level: (*level).to_owned(),
                })
                .collect();
        }
        self
    }
}
