//! The plan keys `keep_cores_awake` and `pin_threads`.

use serde::Deserialize;

/// Whether idle cores are kept from halting and sleeping while a plan runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(from = "Key", rename_all = "lowercase")]
pub enum KeepCoresAwake {
    /// Idle cores are kept awake if this user has the right. The host facts of the run show whether the cores were kept
    /// awake.
    #[default]
    Auto,
    /// Idle cores are kept awake. If this user does not have the right to do that, the run fails.
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

/// The key `keep_cores_awake` as it is written in a plan.
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
