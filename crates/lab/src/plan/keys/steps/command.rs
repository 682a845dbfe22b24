//! The plan key `command` of a step.

use dyno_store::Operation;
use serde::Deserialize;

/// A command of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Command {
    /// Fills the tables: `cleanup`, then `prepare`.
    Prepare,
    /// Runs events for a time.
    #[default]
    Run,
}

impl Command {
    /// Returns the name of the command in plans and scripts.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Run => "run",
        }
    }

    /// Returns the default of the step's key `group`.
    pub(super) fn group(self) -> &'static str {
        match self {
            Self::Prepare => "load",
            Self::Run => "tests",
        }
    }

    /// Returns the default of the step's key `operation`.
    pub(super) fn operation(self) -> Operation {
        match self {
            Self::Prepare => Operation::Row,
            Self::Run => Operation::Transaction,
        }
    }
}
