//! Errors in profiles, with the place of each error.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

use crate::files::near::did_you_mean;

/// An error in a profile: `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1. 0 if the error has no place in the file.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    pub problem: Problem,
}

/// What is wrong with a profile.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The text is not a profile, or not TOML.
    #[error("{0}")]
    Syntax(String),
    /// The translation table does not have this setting.
    #[error("[{section}] has no setting `{name}`{}; write {{ value = …, verbatim = true }} to pass it on as it is", did_you_mean(near.as_ref()))]
    UnknownSetting {
        name: String,
        /// The section of the profile that contains the setting.
        section: &'static str,
        /// A known setting with a similar name, if there is one.
        near: Option<String>,
    },
    /// A value of a wrong type.
    #[error("`{name}` must be a text, a number, true or false, or {{ value = …, optional = true }}")]
    Value { name: String },
    /// There is no built-in profile of that name.
    #[error("there is no profile `{name}`{}; there are: {}", did_you_mean(near.as_ref()), known.join(", "))]
    UnknownProfile {
        name: String,
        /// A built-in profile with a similar name, if there is one.
        near: Option<String>,
        /// The names of all built-in profiles.
        known: Vec<String>,
    },
}

impl ProfileError {
    /// An error about a place in a text.
    pub(super) fn at(file: &str, text: &str, span: Option<Range<usize>>, problem: Problem) -> Self {
        let before = &text[..span.map_or(0, |span| span.start.min(text.len()))];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem,
        }
    }

    /// An error that concerns the profile as a whole.
    pub(super) fn of(file: &str, problem: Problem) -> Self {
        Self { file: file.to_owned(), line: 0, column: 0, problem }
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            problem @ Problem::UnknownProfile { .. } => problem.fmt(f),
            Problem::Unreadable(reason) => write!(f, "cannot read the profile {}: {reason}", self.file),
            problem => write!(f, "{}:{}:{}: {problem}", self.file, self.line, self.column),
        }
    }
}

impl std::error::Error for ProfileError {}
