//! What can be wrong with a plan file, and where.

use std::fmt;
use std::ops::Range;

/// A plan that cannot be used: `file:line:column: what is wrong`, then the line with a mark under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// What is wrong.
    pub problem: Problem,
    /// Where; none where there is no file to point into.
    pub place: Option<Box<SourceLocation>>,
}

/// A place in a plan file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// How many characters are at fault.
    pub width: usize,
    /// The line's text.
    pub source_line: String,
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot read the plan {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The text is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that means nothing here.
    #[error("unknown key `{key}`{}", near_miss(key, known))]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that mean something here.
        known: Vec<String>,
    },
    /// A key of earlier versions, which meant something else.
    #[error("`{key}` is now `{now}`: {meaning}; see docs/plans.md")]
    Renamed {
        /// The key.
        key: &'static str,
        /// The key to write.
        now: &'static str,
        /// What that means.
        meaning: &'static str,
    },
    /// A key that must be there is not.
    #[error("{table} needs a key `{key}`")]
    MissingKey {
        /// Which table, in words.
        table: String,
        /// The key.
        key: &'static str,
    },
    /// Neither of two keys is there.
    #[error("{table} needs a key `{key}` or `{other}`")]
    MissingOneOf {
        /// Which table, in words.
        table: String,
        /// One of the keys.
        key: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A value of another type.
    #[error("`{key}` must be {wanted}, not {found}")]
    WrongType {
        /// Whose value.
        key: String,
        /// What it has to be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A value of the right type that makes no sense.
    #[error("`{key}` must be {wanted}")]
    OutOfRange {
        /// Whose value.
        key: String,
        /// What it has to be.
        wanted: String,
    },
    /// Two keys that exclude each other.
    #[error("the plan has `{key}` and `{other}`; leave one of them out")]
    Both {
        /// The key that comes later in the file.
        key: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A key that has no effect without another.
    #[error("`{key}` means nothing without `{unless}`; add that, or leave this out")]
    Pointless {
        /// The key.
        key: &'static str,
        /// What gives it a meaning.
        unless: &'static str,
    },
    /// A name that nothing has.
    #[error("there is no {kind} `{name}`{}", near_miss(name, known))]
    UnknownName {
        /// What it should name.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Two things of one name.
    #[error("there are two {kind}s `{id}`; give one of them another id")]
    Duplicate {
        /// Of what kind.
        kind: &'static str,
        /// The name.
        id: String,
    },
    /// A list that names something twice.
    #[error("`{key}` names {value} twice")]
    Repeated {
        /// Whose value.
        key: String,
        /// What is named again.
        value: String,
    },
    /// What another part says of the value: the catalogue, a profile, the reader of sizes.
    #[error("{0}")]
    Other(String),
    /// A workload's file cannot be read.
    #[error("cannot read the workload {path}: {reason}")]
    Workload {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl PlanError {
    /// An error about the bytes `span` of `text`.
    pub(super) fn at(file: &str, text: &str, span: &Range<usize>, problem: Problem) -> Self {
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
        Self { problem, place: Some(Box::new(place)) }
    }
}

impl From<Problem> for PlanError {
    fn from(problem: Problem) -> Self {
        Self { problem, place: None }
    }
}

impl std::error::Error for PlanError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(SourceLocation { file, line, column, width, source_line }) = self.place.as_deref() else {
            return self.problem.fmt(f);
        };
        writeln!(f, "{file}:{line}:{column}: {}", self.problem)?;
        // Tabs stay tabs, so that the mark stands under its place however wide they are shown.
        let indent: String =
            source_line.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let margin = line.to_string().len();
        writeln!(f, "  {line} | {source_line}")?;
        write!(f, "  {:margin$} | {indent}{}", "", "^".repeat(*width))
    }
}

/// The last place at or before a byte at which a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// ` — did you mean …?` where a known name is close, else the known names.
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
