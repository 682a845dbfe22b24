//! The password of a dsn, or a reference to it.

use std::fs;
use std::path::PathBuf;

use super::dsn_error::DsnError;

/// A password in the form in which an address gives it.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Password {
    None,
    Clear(String),
    /// The password is in the environment variable of this name.
    Variable(String),
    File(PathBuf),
}

impl Password {
    /// Reads a password as a dsn gives it: `${NAME}`, `${file:PATH}`, or in clear text.
    pub(super) fn of(text: String) -> Self {
        match text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
            None if text.is_empty() => Self::None,
            None => Self::Clear(text),
            Some(name) => match name.strip_prefix("file:") {
                Some(file) => Self::File(PathBuf::from(file)),
                None => Self::Variable(name.to_owned()),
            },
        }
    }

    /// Returns the password itself. Empty if there is none. `variable` reads an environment variable.
    pub(super) fn in_clear(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, DsnError> {
        match self {
            Self::None => Ok(String::new()),
            Self::Clear(password) => Ok(password.clone()),
            Self::Variable(name) => {
                variable(name).ok_or_else(|| DsnError::Variable { variable: name.clone() })
            }
            Self::File(file) => {
                let unreadable =
                    |error: std::io::Error| DsnError::File { file: file.clone(), reason: error.to_string() };
                // Editors add a line break at the end of a file. It is not part of the password.
                Ok(fs::read_to_string(file).map_err(unreadable)?.trim_end_matches(['\r', '\n']).to_owned())
            }
        }
    }
}
