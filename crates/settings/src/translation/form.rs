//! One row of the translation table: how some versions write a setting.

use std::collections::BTreeMap;

use dyno_engine::Family;
use serde::Deserialize;

use crate::product::{Product, Version};
use crate::value::{bytes, normal};

/// How each family writes a setting: its versions' forms, of which the first that fits counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forms {
    #[serde(default)]
    mysql: Vec<Form>,
    #[serde(default)]
    mariadb: Vec<Form>,
    #[serde(default)]
    postgres: Vec<Form>,
    #[serde(default)]
    sqlite: Vec<Form>,
}

/// How some versions write a setting. Without more it is written as it is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    /// The first version that has it.
    since: Option<Version>,
    /// The first version that has it no more.
    before: Option<Version>,
    /// Its name there, if it is another.
    #[serde(rename = "as")]
    written_as: Option<String>,
    /// What a size is divided by, where it is measured in parts.
    divide: Option<u64>,
    /// What else has to be set.
    #[serde(default)]
    with: BTreeMap<String, String>,
    /// The values there are; none where any will do.
    allowed: Option<Vec<String>>,
    /// What stands for each value there is.
    values: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// What it always is, where it cannot be set.
    pub(super) fixed: Option<String>,
}

/// Why a form cannot say a value.
pub(super) enum Refusal {
    /// It is always something else.
    Fixed(String),
    /// It is none of the values there are.
    Value(Vec<String>),
    /// It is no size, so it cannot be divided.
    Size,
}

impl Forms {
    /// How a product writes it; none where it does not have it.
    pub(super) fn of(&self, product: &Product) -> Option<&Form> {
        self.of_family(product.family).iter().find(|form| form.covers(&product.version))
    }

    /// Whether any version of a family has it.
    pub(crate) fn is_known_to(&self, family: Family) -> bool {
        !self.of_family(family).is_empty()
    }

    fn of_family(&self, family: Family) -> &[Form] {
        match family {
            Family::Mysql => &self.mysql,
            Family::Mariadb => &self.mariadb,
            Family::Postgres => &self.postgres,
            Family::Sqlite => &self.sqlite,
        }
    }
}

impl Form {
    fn covers(&self, version: &Version) -> bool {
        self.since.as_ref().is_none_or(|bound| version.is_since(bound))
            && self.before.as_ref().is_none_or(|bound| !version.is_since(bound))
    }

    /// The server's own settings that say a value; nothing where there is nothing to set.
    pub(super) fn write(&self, name: &str, value: &str) -> Result<BTreeMap<String, String>, Refusal> {
        if let Some(fixed) = &self.fixed {
            let is_so = normal(fixed) == normal(value);
            return if is_so { Ok(BTreeMap::new()) } else { Err(Refusal::Fixed(fixed.clone())) };
        }
        if let Some(values) = &self.values {
            let said = values.iter().find(|(known, _)| normal(known) == normal(value));
            let refusal = || Refusal::Value(values.keys().cloned().collect());
            return said.map(|(_, settings)| settings.clone()).ok_or_else(refusal);
        }
        if let Some(allowed) = &self.allowed
            && !allowed.iter().any(|known| normal(known) == normal(value))
        {
            return Err(Refusal::Value(allowed.clone()));
        }
        let value = match self.divide {
            Some(parts) => (bytes(value).ok_or(Refusal::Size)? / parts).to_string(),
            None => value.to_owned(),
        };
        let mut settings = self.with.clone();
        settings.insert(self.written_as.as_deref().unwrap_or(name).to_owned(), value);
        Ok(settings)
    }
}
