//! The plan key `keep_cores_awake`.

use super::table::{Mistake, Value};

/// Whether idle cores are kept from halting and sleeping while a plan runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepCoresAwake {
    /// If this user may. The run's host facts say whether it did.
    #[default]
    Auto,
    /// Always. The run fails if this user may not.
    Always,
    Never,
}

impl KeepCoresAwake {
    /// `"auto"`, true or false.
    pub(super) fn read(value: Value<'_>) -> Result<Self, Mistake> {
        if value.is_text() {
            return value.one_of("way", &[("auto", Self::Auto)]);
        }
        Ok(if value.truth()? { Self::Always } else { Self::Never })
    }
}
