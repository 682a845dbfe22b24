//! Errors of scripts.

use thiserror::Error;

use crate::OptionKind;

/// A script was refused, with its output until then.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{error}")]
pub struct Refused {
    pub error: ScriptError,
    /// The lines that its top level, and its checks of options, had printed.
    pub printed: Vec<String>,
}

impl From<ScriptError> for Refused {
    fn from(error: ScriptError) -> Self {
        Self { error, printed: Vec::new() }
    }
}

/// A script cannot be run, or failed while it ran.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptError {
    /// It does not compile, or raised an error. The message names file and line.
    #[error("{0}")]
    Runtime(String),
    /// It was interrupted. The message names the file and line that it was at.
    #[error("{0}")]
    Interrupted(String),
    /// It declares its options wrongly.
    #[error("{script}: {detail}")]
    Declaration {
        script: String,
        /// The error and the expected value.
        detail: String,
    },
    /// An option was given a value that it cannot have.
    #[error("option --{option} takes {}, not '{value}'", kind.expectation())]
    OptionValue { option: String, value: String, kind: OptionKind },
    /// The script's own check (`validate`) refuses an option's value.
    #[error("option --{option} cannot be '{value}': the script's check refuses it")]
    OptionRefused { option: String, value: String },
    /// `--rand-type` names no distribution.
    #[error("option --rand-type takes uniform, gaussian, special, pareto or zipfian, not '{value}'")]
    RandomType { value: String },
    /// A value that should be a function is none.
    #[error("'{name}' is a {what} in the script, where a function is expected")]
    NoFunction { name: String, what: &'static str },
    /// It yields where there is no coroutine of its own.
    #[error("the script calls coroutine.yield() outside of any coroutine that it made")]
    Yield,
    /// Lua is out of memory.
    #[error("out of memory in the Lua script")]
    Memory,
}
