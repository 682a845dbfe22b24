//! Errors of scripts.

use thiserror::Error;

use crate::{MemoryLimit, OptionKind};

/// A refused script, with its output up to the refusal.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{error}")]
pub struct Refused {
    pub error: ScriptError,
    /// Lines that the script's top level and its checks of options printed before the refusal.
    pub printed: Vec<String>,
}

impl From<ScriptError> for Refused {
    fn from(error: ScriptError) -> Self {
        Self { error, printed: Vec::new() }
    }
}

/// The script cannot run, or failed during its run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptError {
    /// The script does not compile, or it raised an error. The message names the file and the line.
    #[error("{0}")]
    Runtime(String),
    /// The script was interrupted. The message names the file and the line.
    #[error("{0}")]
    Interrupted(String),
    /// The script's declarations of options are invalid.
    #[error("{script}: {detail}")]
    Declaration {
        script: String,
        /// The error and the expected value.
        detail: String,
    },
    /// One of sysbench's general options has an invalid value.
    #[error("option --{option} takes {expected}, not '{value}'")]
    GeneralOption { option: String, value: String, expected: String },
    /// An option of the script has an invalid value.
    #[error("option --{option} takes {}, not '{value}'", kind.expectation())]
    OptionValue { option: String, value: String, kind: OptionKind },
    /// The script's own check (`validate`) refuses the value of an option.
    #[error("option --{option} cannot be '{value}': the script's check refuses it")]
    OptionRefused { option: String, value: String },
    /// A global variable of the script is not a function, but must be one.
    #[error("'{name}' is a {what} in the script, where a function is expected")]
    NoFunction { name: String, what: &'static str },
    /// The script yields outside of the coroutines that it created.
    #[error("the script calls coroutine.yield() outside of any coroutine that it made")]
    Yield,
    /// The script needs more memory than scripts may use.
    #[error(
        "{script}: the script takes more than the {limit_mib} MiB of memory that scripts may have; {}=N in the \
         environment allows N MiB",
        MemoryLimit::VARIABLE
    )]
    MemoryLimit {
        script: String,
        /// The limit on the memory of all scripts of the process together.
        limit_mib: usize,
    },
    /// Lua is out of memory.
    #[error("out of memory in the Lua script")]
    Memory,
}
