//! Errors in plan files, with their place.

use std::fmt;
use std::mem;
use std::ops::Range;

use dyno_printable::{Printable, printable_lines};

/// An error in a plan, shown as `file:line:column: message`, then the line with a mark under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    pub problem: Problem,
    /// The place in the file, if the error has one.
    pub place: Option<Box<SourceLocation>>,
    /// The errors after this one, each shown by itself.
    pub others: Vec<PlanError>,
}

/// A place in a plan file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file as the user named it.
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
    /// An unknown key.
    #[error("unknown key `{key}`{}", near_miss(key, known))]
    UnknownKey {
        key: String,
        /// The known keys of the table.
        known: Vec<String>,
    },
    /// A required key is missing.
    #[error("{table} needs a key `{key}`")]
    MissingKey {
        /// The table, in words.
        table: String,
        key: &'static str,
    },
    /// A value of the wrong type.
    #[error("`{key}` must be {wanted}, not {found}")]
    WrongType {
        key: String,
        /// What is expected.
        wanted: String,
        found: &'static str,
    },
    /// A value out of range.
    #[error("`{key}` must be {wanted}")]
    OutOfRange {
        key: String,
        /// What is expected.
        wanted: String,
    },
    /// A text that is not one of a key's words.
    #[error("`{key}` cannot be `{value}`{}", near_miss(value, known))]
    UnknownValue { key: String, value: String, known: Vec<String> },
    /// An unknown name.
    #[error("there is no {kind} `{name}`{}", near_miss(name, known))]
    UnknownName {
        /// Kind of thing that it should name.
        kind: &'static str,
        name: String,
        /// Known names.
        known: Vec<String>,
    },
    /// A password in clear text. The line is not shown.
    #[error(
        "the plan is kept with the results, so a password must not be in it; write ${{NAME}} for one in the \
         environment, or ${{file:PATH}}"
    )]
    Secret,
    /// An error of any other kind, in words. Some come from other parts, such as the catalogue, a profile or the size
    /// parser.
    #[error("{0}")]
    Other(String),
    /// An error in another file that the plan names: its suite, or a price list.
    #[error("{0}")]
    OtherFile(Box<PlanError>),
}

impl Problem {
    /// The error for a name that is not among the `known` names of a kind.
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
    /// Whether it is an unknown name of this kind.
    pub(in crate::plan) fn is_unknown(&self, of_kind: &str) -> bool {
        matches!(self, Self::UnknownName { kind, .. } if *kind == of_kind)
    }

    /// Whether it is an unknown name, which is wrong regardless of other mistakes.
    pub(in crate::plan) fn is_name(&self) -> bool {
        matches!(self, Self::UnknownName { .. })
    }
}

impl PlanError {
    /// An error about the bytes `span` of `text`.
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

    /// The errors one by one: this one without the others, then each of the others.
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
        // Tabs stay tabs, so that the mark stands under its place at any tab width.
        let before: String = source_line.chars().take(column - 1).collect();
        let indent: String =
            printable_lines(&before).chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let margin = line.to_string().len();
        writeln!(f, "  {line} | {}", printable_lines(source_line))?;
        write!(f, "  {:margin$} | {indent}{}", "", "^".repeat(*width))
    }
}

/// The last character boundary at or before a byte.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// ` — did you mean …?` if a known name is close, otherwise the known names.
fn near_miss(name: &str, known: &[String]) -> String {
    let nearest = known.iter().max_by(|a, b| similarity(name, a).total_cmp(&similarity(name, b)));
    match nearest {
        Some(near) if similarity(name, near) >= 0.75 => format!(" — did you mean `{near}`?"),
        Some(_) => format!("; there are: {}", known.join(", ")),
        None => String::new(),
    }
}

/// From 0 (nothing in common) to 1 (the same).
fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}
