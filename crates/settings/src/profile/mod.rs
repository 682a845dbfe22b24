//! Profiles: settings that are written once for every product.

mod builtin;
mod error;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_engine::Family;
use serde::{Deserialize, Serialize};

pub use self::builtin::builtin_profiles;
pub use self::error::{Problem, ProfileError};
use crate::facts::assignment::Assignment;
use crate::facts::product::Product;
use crate::translation::{SettingsError, Translation, translate};

/// Settings for servers of all products.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name by which users refer to the profile.
    pub name: String,
    /// The profile's purpose, in one line.
    pub title: String,
    sections: BTreeMap<Section, BTreeMap<String, Assignment>>,
}

/// A section of a profile: the products to which its settings apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// MySQL and MariaDB, with any storage engine.
    Mysql,
    /// MySQL and MariaDB with tables in InnoDB.
    Innodb,
    /// MySQL and MariaDB with tables in MyRocks.
    Rocksdb,
    Postgres,
    Sqlite,
}

impl Section {
    /// All sections, in the order in which they are applied. A later section overrides an earlier one.
    pub const ALL: [Self; 5] = [Self::Mysql, Self::Innodb, Self::Rocksdb, Self::Postgres, Self::Sqlite];

    /// The section's name in a profile's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Innodb => "innodb",
            Self::Rocksdb => "rocksdb",
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        }
    }

    /// The families to which the section's settings belong.
    fn families(self) -> &'static [Family] {
        match self {
            Self::Mysql | Self::Innodb | Self::Rocksdb => &[Family::Mysql, Family::Mariadb],
            Self::Postgres => &[Family::Postgres],
            Self::Sqlite => &[Family::Sqlite],
        }
    }

    pub(crate) fn applies_to(self, product: &Product) -> bool {
        match self {
            Self::Mysql => product.is_mysqld(),
            Self::Innodb | Self::Rocksdb => product.keeps_tables_in(self.name()),
            Self::Postgres | Self::Sqlite => self.families().contains(&product.family),
        }
    }
}

impl Profile {
    /// The settings of a section, by name.
    pub fn section(&self, section: Section) -> impl Iterator<Item = (&str, &Assignment)> {
        let settings = self.sections.get(&section).into_iter().flatten();
        settings.map(|(name, assignment)| (name.as_str(), assignment))
    }

    /// The settings for a product, by the server's own names.
    ///
    /// # Errors
    /// The product does not support a setting that is not optional.
    pub fn settings_for(&self, product: &Product) -> Result<BTreeMap<String, String>, SettingsError> {
        Ok(self.translate(product, &BTreeMap::new())?.settings)
    }

    /// Returns the settings for a product as [`settings_for`](Self::settings_for) does, but with some settings
    /// changed. Also returns the settings that are left out. A changed setting that is not in the translation table
    /// is passed on unchanged.
    ///
    /// # Errors
    /// The errors of [`settings_for`](Self::settings_for), or a changed setting cannot have its new value.
    pub fn translate(
        &self,
        product: &Product,
        changes: &BTreeMap<String, String>,
    ) -> Result<Translation, SettingsError> {
        let applying = Section::ALL.into_iter().filter(|section| section.applies_to(product));
        let mut settings: BTreeMap<String, Assignment> = BTreeMap::new();
        for section in applying {
            settings.extend(self.sections.get(&section).cloned().unwrap_or_default());
        }
        let (known, own): (BTreeMap<_, _>, BTreeMap<_, _>) = changes
            .iter()
            // Servers accept `-` in place of `_` in the names of their options.
            .map(|(name, value)| (name.replace('-', "_"), value.clone()))
            .partition(|(name, _)| crate::translation::is_known(name, product.family));
        settings.extend(
            known.into_iter().map(|(name, value)| (name, Assignment { value, ..Assignment::default() })),
        );
        let mut translation = translate(product, &settings)?;
        translation.settings.extend(own);
        Ok(translation)
    }
}
