//! A problem while its place in the file is being found.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Expected, Unexpected};

use crate::plan::syntax::de::Place;
use crate::plan::syntax::error::{PlanError, Problem};
use crate::plan::syntax::renamed::unknown_key;

/// A problem with its byte range in the file, if that is known yet.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub(in crate::plan) struct Mistake {
    span: Option<Range<usize>>,
    pub(in crate::plan) problem: Problem,
}

impl Mistake {
    pub(in crate::plan) fn at(span: Range<usize>, problem: Problem) -> Self {
        Self { span: Some(span), problem }
    }

    /// Gives it a range, unless it has a narrower one.
    pub(in crate::plan) fn or_at(self, span: Range<usize>) -> Self {
        Self { span: self.span.or(Some(span)), ..self }
    }

    /// Gives it the place of a value, unless it has a narrower one.
    pub(in crate::plan) fn within(mut self, place: &Place) -> Self {
        if self.span.is_some() {
            return self;
        }
        match &mut self.problem {
            Problem::UnknownValue { key, .. }
            | Problem::WrongType { key, .. }
            | Problem::OutOfRange { key, .. } => place.key().clone_into(key),
            Problem::MissingKey { table, .. } => *table = place.table(),
            _ => {}
        }
        self.or_at(place.span.clone())
    }

    /// The error to show. One without a range is shown at the beginning of the file.
    pub(in crate::plan) fn in_file(self, file: &str, text: &str) -> PlanError {
        match self.problem {
            Problem::OtherFile(error) => *error,
            problem => PlanError::at(file, text, &self.span.unwrap_or_default(), problem),
        }
    }
}

impl From<Problem> for Mistake {
    fn from(problem: Problem) -> Self {
        Self { span: None, problem }
    }
}

impl From<String> for Mistake {
    fn from(problem: String) -> Self {
        Problem::Other(problem).into()
    }
}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        message.to_string().into()
    }

    fn invalid_value(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Problem::OutOfRange { key: String::new(), wanted: wanted.to_string() }.into()
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        unknown_key(key, known).into()
    }

    fn unknown_variant(value: &str, known: &'static [&'static str]) -> Self {
        let known = known.iter().map(ToString::to_string).collect();
        Problem::UnknownValue { key: String::new(), value: value.to_owned(), known }.into()
    }

    fn missing_field(key: &'static str) -> Self {
        Problem::MissingKey { table: String::new(), key }.into()
    }
}
