//! From a setting's one name to what a version calls it.

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
use crate::assignment::Assignment;
use crate::data;
use crate::near::{did_you_mean, nearest};
use crate::product::{Product, family_name};

static TABLE: LazyLock<BTreeMap<String, Forms>> = LazyLock::new(|| data::tables("translation"));

/// Settings in a product's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// What to start the server with, by the server's names.
    pub settings: BTreeMap<String, String>,
    /// What was optional and the product cannot do.
    pub left_out: Vec<LeftOut>,
}

/// An optional setting that a product does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub name: String,
    /// Why it is left out, for people.
    pub reason: String,
}

/// A setting that a product cannot be given.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingsError {
    /// Nothing is called that.
    #[error("there is no setting `{name}` of {}{}", family_name(*family), did_you_mean(near.as_ref()))]
    Unknown {
        name: String,
        /// Whose setting it should be.
        family: Family,
        /// A name that is near.
        near: Option<String>,
    },
    /// Other versions have it.
    #[error("{product} has no `{name}`; mark it `optional` to leave it out there")]
    NotInVersion {
        name: String,
        /// Which product, with its version.
        product: String,
    },
    /// It cannot be changed there.
    #[error(
        "`{name}` is always {fixed} in {product}, never {value}; mark it `optional` to leave it out there"
    )]
    Fixed {
        name: String,
        /// Which product, with its version.
        product: String,
        /// What it always is.
        fixed: String,
        /// What it should be.
        value: String,
    },
    /// It has other values there.
    #[error("`{name}` cannot be {value} in {product}; it can be: {}", allowed.join(", "))]
    Value {
        name: String,
        /// Which product, with its version.
        product: String,
        /// What it should be.
        value: String,
        /// What it can be.
        allowed: Vec<String>,
    },
    /// It should be a number of bytes.
    #[error("`{name}` must be a size such as 512M, not {value}")]
    Size {
        name: String,
        /// What it should be.
        value: String,
    },
}

/// The names that a family's settings go by, of all its versions.
pub fn known_settings(family: Family) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |(_, forms)| forms.is_known_to(family)).map(|(name, _)| name.as_str())
}

/// Whether a name is that of a setting that products of a family, or of its kin, may have.
pub(crate) fn is_known(name: &str, family: Family) -> bool {
    find(name, family).is_ok()
}

/// What a product always does about a setting that it does not have.
pub(crate) fn fixed_value(product: &Product, name: &str) -> Option<String> {
    TABLE.get(name)?.of(product)?.fixed.clone()
}

/// Writes settings as a product does.
///
/// # Errors
/// When the product cannot be given one of them, unless that is optional.
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

/// MySQL 5.5 passes over `ON` and `OFF` on its command line, with a warning in its log.
fn spelled(product: &Product, value: String) -> String {
    let is_old = product.family == Family::Mysql && !product.is_since("5.6");
    match value.as_str() {
        "ON" if is_old => "1".to_owned(),
        "OFF" if is_old => "0".to_owned(),
        _ => value,
    }
}

/// MySQL's settings are MariaDB's too, be it that one of them has it and the other not.
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
    /// Whether another version might do it.
    fn is_of_version(&self) -> bool {
        matches!(self, Self::NotInVersion { .. } | Self::Fixed { .. } | Self::Value { .. })
    }

    fn reason(&self) -> String {
        match self {
            Self::Fixed { fixed, .. } => format!("always {fixed}"),
            Self::Value { allowed, .. } => format!("only {}", allowed.join(", ")),
            _ => "not there".to_owned(),
        }
    }
}
