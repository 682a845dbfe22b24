//! Errors of claims.

/// A claim that is invalid or does not fit its plan: `column 7: there is no system 'myrock', did you mean
/// 'myrocks'?`
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {problem}")]
pub struct ClaimError {
    /// Column in the claim's text, from 1.
    pub column: usize,
    pub problem: Problem,
}

/// An error at one position of a claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A character that is not part of the language.
    #[error("'{found}' has no meaning here")]
    Character { found: char },
    /// A text without a closing quotation mark.
    #[error("the quotation mark is never closed")]
    OpenText,
    /// An unexpected token.
    #[error("expected {expected}, found {found}")]
    Expected { expected: &'static str, found: String },
    #[error("there is no {what} '{name}'{}", advice(known, nearest.as_deref()))]
    Unknown {
        /// The kind of thing that the name should refer to, such as a system or a step.
        what: &'static str,
        name: String,
        /// All names of this kind in the plan.
        known: Vec<String>,
        /// The nearest known name.
        nearest: Option<String>,
    },
    /// A claim without a measured quantity.
    #[error("the claim needs a ratio, value or geomean on at least one side")]
    NoMeasurement,
    /// A ratio or value that fits no test, or several.
    #[error("{}", tests_problem(function, *count))]
    Tests { function: &'static str, count: usize },
    /// A quantity other than throughput in a call with a number of joined clients.
    #[error("with a number of joined clients, only throughput can be claimed")]
    JoinedQuantity,
}

fn tests_problem(function: &str, count: usize) -> String {
    match count {
        0 => format!(
            "{function} needs one test, and none matches; the scale, --only or --clients may leave it out"
        ),
        _ => format!(
            "{function} needs one test, and {count} match; name a step and a number of clients, or use geomean"
        ),
    }
}

impl Problem {
    /// The error for an unknown name.
    pub(super) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        let distance = |known: &&String| strsim::damerau_levenshtein(name, known);
        let nearest = known.iter().min_by_key(distance).filter(|known| distance(known) <= 2).cloned();
        Self::Unknown { what, name: name.to_owned(), known, nearest }
    }

    /// The error for a number that the plan does not have. It lists the plan's numbers but, unlike the error for a
    /// name, does not suggest the nearest.
    pub(super) fn listed<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().map(str::to_owned).collect();
        Self::Unknown { what, name: name.to_owned(), known, nearest: None }
    }

    pub(super) fn at(self, column: usize) -> ClaimError {
        ClaimError { column, problem: self }
    }
}

fn advice(known: &[String], nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean '{nearest}'?"),
        None if known.is_empty() => String::new(),
        None => format!("; there is {}", known.join(", ")),
    }
}
