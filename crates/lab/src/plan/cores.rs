//! Whether idle cores may sleep while a plan runs.

use super::table::{Mistake, Value};

/// Whether idle cores are kept from halting and sleeping while a plan runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepCoresAwake {
    /// If this user may, which the run's facts about the host tell.
    #[default]
    Auto,
    /// Always; the run fails where this user may not.
    Always,
    /// Never.
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
