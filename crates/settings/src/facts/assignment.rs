//! One setting of a profile.

use serde::{Deserialize, Serialize};

/// The wanted value of a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The value, as the setting's newest version writes it.
    pub value: String,
    /// Whether the setting is left out for versions that do not support it.
    pub optional: bool,
    /// Whether the setting is passed on unchanged, without the translation table.
    pub verbatim: bool,
}
