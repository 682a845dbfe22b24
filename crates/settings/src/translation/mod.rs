//! Translates settings to the names and values that a version uses.

mod form;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use dyno_engine::Family;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) use self::form::Forms;
use self::form::Refusal;
use crate::facts::assignment::Assignment;
use crate::facts::product::{Product, family_name};
use crate::files::data;
use crate::files::near::{did_you_mean, nearest};

static TABLE: LazyLock<BTreeMap<String, Forms>> = LazyLock::new(|| data::tables("translation"));

/// Translated settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// Settings with which the server is started, by the server's own names.
    pub settings: BTreeMap<String, String>,
    /// Optional settings that the product does not support.
    pub left_out: Vec<LeftOut>,
}

/// An optional setting that a product does not support.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub name: String,
    /// The reason why the setting is left out.
    pub reason: String,
}

/// Why a product does not support a setting.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingsError {
    /// The name of the setting is unknown.
    #[error("there is no setting `{name}` of {}{}", family_name(*family), did_you_mean(near.as_ref()))]
    Unknown {
        name: String,
        family: Family,
        /// A known setting with a similar name, if there is one.
        near: Option<String>,
    },
    /// The product does not have the setting, but other versions have it.
    #[error("{product} has no `{name}`; mark it `optional` to leave it out there")]
    NotInVersion {
        name: String,
        /// The product with its version.
        product: String,
    },
    /// The setting cannot be changed in that version.
    #[error(
        "`{name}` is always {fixed} in {product}, never {value}; mark it `optional` to leave it out there"
    )]
    Fixed {
        name: String,
        /// The product with its version.
        product: String,
        /// The setting's fixed value.
        fixed: String,
        /// The wanted value.
        value: String,
    },
    /// The setting does not accept this value in that version.
    #[error("`{name}` cannot be {value} in {product}; it can be: {}", allowed.join(", "))]
    Value {
        name: String,
        /// The product with its version.
        product: String,
        /// The wanted value.
        value: String,
        /// The values that the setting accepts.
        allowed: Vec<String>,
    },
    /// The value is not a number of bytes.
    #[error("`{name}` must be a size such as 512M, not {value}")]
    Size {
        name: String,
        /// The wanted value.
        value: String,
    },
}

/// The names of all settings that any version of a family has.
pub fn known_settings(family: Family) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |(_, forms)| forms.is_known_to(family)).map(|(name, _)| name.as_str())
}

/// Whether products of a family, or of a related family, may have a setting of this name.
pub(crate) fn is_known(name: &str, family: Family) -> bool {
    find(name, family).is_ok()
}

/// The fixed value of a setting that a product does not have.
pub(crate) fn fixed_value(product: &Product, name: &str) -> Option<String> {
    TABLE.get(name)?.of(product)?.fixed.clone()
}

/// Translates settings to the form of a product.
///
/// # Errors
/// The product does not support a setting, and the setting is not optional.
pub fn translate(
    product: &Product,
    settings: &BTreeMap<String, Assignment>,
) -> Result<Translation, SettingsError> {
    let mut translation = Translation::default();
    for (name, assignment) in settings {
        match write(product, name, assignment) {
            Ok(written) => {
                let written = written.into_iter().map(|(name, value)| (name, spelled(product, value)));
                translation.settings.extend(written);
            }
            Err(error) if assignment.optional && error.is_of_version() => {
                translation.left_out.push(LeftOut { name: name.clone(), reason: error.reason() });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(translation)
}

fn write(
    product: &Product,
    name: &str,
    assignment: &Assignment,
) -> Result<BTreeMap<String, String>, SettingsError> {
    if assignment.verbatim {
        return Ok(BTreeMap::from([(name.to_owned(), assignment.value.clone())]));
    }
    let forms = find(name, product.family)?;
    let (name, product_name, value) = (name.to_owned(), product.to_string(), assignment.value.clone());
    let Some(form) = forms.of(product) else {
        return Err(SettingsError::NotInVersion { name, product: product_name });
    };
    form.write(&name, &value).map_err(|refusal| match refusal {
        Refusal::Fixed(fixed) => SettingsError::Fixed { name, product: product_name, fixed, value },
        Refusal::Value(allowed) => SettingsError::Value { name, product: product_name, value, allowed },
        Refusal::Size => SettingsError::Size { name, value },
    })
}

/// A value in a form that the version accepts. `ON` and `OFF` become 1 and 0 for MySQL 5.5, which ignores these words
/// on its command line, with a warning in its log. `90.000000` becomes `90` for MySQL and MariaDB: servers that store a
/// number as a fraction report this form, but older servers refuse it.
fn spelled(product: &Product, value: String) -> String {
    let is_old = product.family == Family::Mysql && !product.is_since("5.6");
    match value.as_str() {
        "ON" if is_old => "1".to_owned(),
        "OFF" if is_old => "0".to_owned(),
        _ => match value.strip_suffix(".000000") {
            Some(whole) if product.is_mysqld() => whole.to_owned(),
            _ => value,
        },
    }
}

/// Finds the forms of a setting. A setting that only MySQL or only MariaDB has is known for both, so that it can be
/// left out for the other.
fn find(name: &str, family: Family) -> Result<&'static Forms, SettingsError> {
    let is_kin = |forms: &&Forms| match family {
        Family::Mysql | Family::Mariadb => {
            forms.is_known_to(Family::Mysql) || forms.is_known_to(Family::Mariadb)
        }
        _ => forms.is_known_to(family),
    };
    TABLE.get(name).filter(is_kin).ok_or_else(|| SettingsError::Unknown {
        name: name.to_owned(),
        family,
        near: nearest(name, known_settings(family)),
    })
}

impl SettingsError {
    /// Whether another version may support the setting with this value.
    fn is_of_version(&self) -> bool {
        matches!(self, Self::NotInVersion { .. } | Self::Fixed { .. } | Self::Value { .. })
    }

    /// The reason why the setting is left out, in few words.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Fixed { fixed, .. } => format!("always {fixed}"),
            Self::Value { allowed, .. } => format!("only {}", allowed.join(", ")),
            _ => "not there".to_owned(),
        }
    }
}
