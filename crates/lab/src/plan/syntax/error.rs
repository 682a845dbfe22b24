//! Errors in plan files, with their place.

use std::fmt;
use std::mem;
use std::ops::Range;

use dyno_printable::{Printable, printable_lines};

/// An error in a plan. It is shown as `file:line:column: message`, followed by the line with a mark below the
/// place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    pub problem: Problem,
    /// The place of the error in the file. `None` if it has no place.
    pub place: Option<Box<SourceLocation>>,
    /// The errors after this one. Each is shown separately.
    pub others: Vec<PlanError>,
}

/// A place in a plan's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file's name as the user wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Number of characters to mark.
    pub width: usize,
    pub source_line: String,
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot read the plan {path}: {reason}")]
    Unreadable { path: String, reason: String },
    /// The text is not valid TOML.
    #[error("{0}")]
    Syntax(String),
    #[error("unknown key `{key}`{}", near_miss(key, known))]
    UnknownKey {
        key: String,
        /// The known keys of the table.
        known: Vec<String>,
    },
    #[error("{table} needs a key `{key}`")]
    MissingKey {
        /// The table, in words.
        table: String,
        key: &'static str,
    },
    #[error("`{key}` must be {wanted}, not {found}")]
    WrongType {
        key: String,
        /// The type of value that the key accepts, in words.
        wanted: String,
        found: &'static str,
    },
    #[error("`{key}` must be {wanted}")]
    OutOfRange {
        key: String,
        /// The range of values that the key accepts, in words.
        wanted: String,
    },
    /// A text that is not one of the words that the key accepts.
    #[error("`{key}` cannot be `{value}`{}", near_miss(value, known))]
    UnknownValue { key: String, value: String, known: Vec<String> },
    #[error("there is no {kind} `{name}`{}", near_miss(name, known))]
    UnknownName {
        /// The kind of object that the name should refer to, such as a system.
        kind: &'static str,
        name: String,
        known: Vec<String>,
    },
    /// A password in clear text. The message does not show the line.
    #[error(
        "the plan is kept with the results, so a password must not be in it; write ${{NAME}} for one in the \
         environment, or ${{file:PATH}}"
    )]
    Secret,
    /// Any other error, in words. Some of these errors come from other parts, such as the catalogue, a profile or
    /// the parser of sizes.
    #[error("{0}")]
    Other(String),
    /// An error in a suite or price list that the plan names.
    #[error("{0}")]
    OtherFile(Box<PlanError>),
}

impl Problem {
    /// Returns the error for a name that is not among the `known` names of a kind.
    pub(in crate::plan) fn unknown<T: Into<String>>(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = T>,
    ) -> Self {
        let known = known.into_iter().map(Into::into).collect();
        Self::UnknownName { kind, name: name.to_owned(), known }
    }
}

impl Problem {
    /// Returns whether this is an unknown name of the given kind.
    pub(in crate::plan) fn is_unknown(&self, of_kind: &str) -> bool {
        matches!(self, Self::UnknownName { kind, .. } if *kind == of_kind)
    }

    /// Returns whether this is an unknown name. Such an error does not depend on other mistakes.
    pub(in crate::plan) fn is_name(&self) -> bool {
        matches!(self, Self::UnknownName { .. })
    }
}

impl PlanError {
    /// Returns an error about the bytes `span` of `text`.
    pub(in crate::plan) fn at(file: &str, text: &str, span: &Range<usize>, problem: Problem) -> Self {
        let start = boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let source_line = text[line_start..].lines().next().unwrap_or_default();
        let end = boundary(text, span.end).min(line_start + source_line.len()).max(start);
        let place = SourceLocation {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            width: text[start..end].chars().count().max(1),
            source_line: source_line.to_owned(),
        };
        Self { problem, place: Some(Box::new(place)), others: Vec::new() }
    }

    /// Splits the error into a list: this error without the others, and then each of the others.
    pub(in crate::plan) fn apart(mut self) -> Vec<Self> {
        let others = mem::take(&mut self.others);
        [vec![self], others].concat()
    }
}

impl From<Problem> for PlanError {
    fn from(problem: Problem) -> Self {
        Self { problem, place: None, others: Vec::new() }
    }
}

impl std::error::Error for PlanError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(SourceLocation { file, line, column, width, source_line }) = self.place.as_deref() else {
            return write!(f, "{}", Printable(&self.problem));
        };
        if self.problem == Problem::Secret {
            return write!(f, "{}:{line}:{column}: {}", Printable(file), Printable(&self.problem));
        }
        writeln!(f, "{}:{line}:{column}: {}", Printable(file), Printable(&self.problem))?;
        // Tabs are kept, so that the mark stands below its place at any tab width.
        let before: String = source_line.chars().take(column - 1).collect();
        let indent: String =
            printable_lines(&before).chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let margin = line.to_string().len();
        writeln!(f, "  {line} | {}", printable_lines(source_line))?;
        write!(f, "  {:margin$} | {indent}{}", "", "^".repeat(*width))
    }
}

/// Returns the last character boundary at or before the byte index `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns ` — did you mean …?` if a known name is similar. Otherwise lists the known names.
fn near_miss(name: &str, known: &[String]) -> String {
    let nearest = known.iter().max_by(|a, b| similarity(name, a).total_cmp(&similarity(name, b)));
    match nearest {
        Some(near) if similarity(name, near) >= 0.75 => format!(" — did you mean `{near}`?"),
        Some(_) => format!("; there are: {}", known.join(", ")),
        None => String::new(),
    }
}

/// Returns the similarity of two texts, from 0 (nothing in common) to 1 (equal).
fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}
