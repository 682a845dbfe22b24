//! One setting of a profile.

use serde::{Deserialize, Serialize};

/// The wanted value of a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The value, as the setting's newest version writes it.
    pub value: String,
    /// Whether it is left out where a version cannot do it.
    pub optional: bool,
    /// Whether it is passed on as it is, past the translation table.
    pub verbatim: bool,
}
