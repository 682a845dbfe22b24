//! A row of the translation table: how versions write a setting.

use std::collections::BTreeMap;

use dyno_engine::Family;
use serde::Deserialize;

use crate::facts::product::{Product, Version};
use crate::facts::value::{bytes, normal};

/// The forms of a setting in each family. The first form that fits the version is used.
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

/// The form of a setting in some versions. By default the setting is written unchanged.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    /// The first version that has the setting.
    since: Option<Version>,
    /// The first version that no longer has the setting.
    before: Option<Version>,
    /// The setting's name in these versions, if it differs from the name in the translation table.
    #[serde(rename = "as")]
    written_as: Option<String>,
    /// The number of equal parts, if the server expects the size of one part in place of the whole size.
    divide: Option<u64>,
    /// Other settings that must be set as well, with their values.
    #[serde(default)]
    with: BTreeMap<String, String>,
    /// The possible values; `None` for any value.
    allowed: Option<Vec<String>>,
    /// For each value, the server's settings that express it.
    values: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// The fixed value, if the setting cannot be set.
    pub(super) fixed: Option<String>,
}

/// Why a form cannot express a value.
pub(super) enum Refusal {
    /// The setting has another value, which is fixed.
    Fixed(String),
    /// The value is not one of the accepted values. The field has the accepted values.
    Value(Vec<String>),
    /// The value is not a size, so it cannot be divided.
    Size,
}

impl Forms {
    /// The form for a product; `None` if the product does not have the setting.
    pub(super) fn of(&self, product: &Product) -> Option<&Form> {
        self.of_family(product.family).iter().find(|form| form.covers(&product.version))
    }

    /// Whether any version of a family has the setting.
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

    /// The server's settings that express a value. Empty if there is nothing to set.
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
