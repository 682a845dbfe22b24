//! The plan keys `keep_cores_awake` and `pin_threads`.

use serde::Deserialize;

/// Whether idle cores are kept from halting and sleeping while a plan runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(from = "Key", rename_all = "lowercase")]
pub enum KeepCoresAwake {
    /// If this user has the right. The host facts of the run show the result.
    #[default]
    Auto,
    /// Always. Without the right, the run fails.
    Always,
    Never,
}

/// Whether threads are pinned to cores while systems take turns in slices, if there are enough cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(transparent)]
pub struct PinThreads(pub bool);

impl Default for PinThreads {
    fn default() -> Self {
        Self(true)
    }
}

/// As a plan writes it.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Key {
    Auto,
    #[serde(rename = "true or false")]
    #[cfg_attr(test, schemars(untagged))]
    Truth(bool),
}

impl From<Key> for KeepCoresAwake {
    fn from(key: Key) -> Self {
        match key {
            Key::Auto => Self::Auto,
            Key::Truth(true) => Self::Always,
            Key::Truth(false) => Self::Never,
        }
    }
}
