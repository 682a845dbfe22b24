//! Mistakes in a plan. A mistake is a problem whose place in the file may not be known yet. Several mistakes form a
//! linked list.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Expected, Unexpected};

use crate::plan::syntax::de::{LeftOut, Place};
use crate::plan::syntax::error::{PlanError, Problem};
use crate::plan::syntax::renamed::unknown_key;

/// A problem, its byte range in the file if that is known, and the mistakes found after it.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub(in crate::plan) struct Mistake {
    span: Option<Range<usize>>,
    pub(in crate::plan) problem: Problem,
    /// Whether the mistake only follows from an earlier mistake. For example, a key is missing because its name was
    /// misspelt.
    follows: bool,
    /// The next mistake of the list.
    next: Option<Box<Mistake>>,
}

impl Mistake {
    pub(in crate::plan) fn at(span: Range<usize>, problem: Problem) -> Self {
        Self { span: Some(span), ..Self::from(problem) }
    }

    /// Returns the byte range in the file.
    pub(in crate::plan) fn span(&self) -> Option<&Range<usize>> {
        self.span.as_ref()
    }

    pub(in crate::plan) fn follows(&self) -> bool {
        self.follows
    }

    /// Appends another list of mistakes.
    pub(in crate::plan) fn and(self, other: Self) -> Self {
        let next = match self.next {
            None => other,
            Some(next) => next.and(other),
        };
        Self { next: Some(Box::new(next)), ..self }
    }

    /// Returns the mistakes for which a predicate is true.
    pub(in crate::plan) fn only(self, is_wanted: &dyn Fn(&Problem) -> bool) -> Option<Self> {
        let mut all = self.all().into_iter().filter(|mistake| is_wanted(&mistake.problem));
        let first = all.next()?;
        Some(all.fold(first, Self::and))
    }

    /// Splits the list into single mistakes.
    fn all(self) -> Vec<Self> {
        let mut all = Vec::new();
        let mut next = Some(Box::new(self));
        while let Some(mut mistake) = next {
            next = mistake.next.take();
            all.push(*mistake);
        }
        all
    }

    /// Sets the byte range, unless the mistake has one already. Inner ranges are set first, so the narrowest is
    /// kept.
    pub(in crate::plan) fn or_at(self, span: Range<usize>) -> Self {
        Self { span: self.span.or(Some(span)), ..self }
    }

    /// Sets the place to that of a value, unless the mistake has a place already. `left_out` has the keys that were
    /// left out of the value, if it is a table.
    pub(in crate::plan) fn within(mut self, place: &Place, left_out: &LeftOut) -> Self {
        if self.span.is_some() {
            return self;
        }
        self.follows = matches!(self.problem, Problem::MissingKey { key, .. } if left_out.explains(key));
        match &mut self.problem {
            Problem::UnknownValue { key, .. }
            | Problem::WrongType { key, .. }
            | Problem::OutOfRange { key, .. } => place.key().clone_into(key),
            Problem::MissingKey { table, .. } => *table = place.table(),
            _ => {}
        }
        self.or_at(place.span.clone())
    }

    /// Returns the errors to show, in the order of the file. An error without a range is shown at the beginning of
    /// the file.
    pub(in crate::plan) fn in_file(self, file: &str, text: &str) -> PlanError {
        let mut all = self.all();
        all.sort_by_key(|mistake| mistake.span.as_ref().map(|span| span.start));
        let mut errors = all.into_iter().flat_map(|mistake| match mistake.problem {
            Problem::OtherFile(error) => error.apart(),
            problem => vec![PlanError::at(file, text, &mistake.span.unwrap_or_default(), problem)],
        });
        let first = errors.next().expect("a mistake is one at least");
        PlanError { others: errors.collect(), ..first }
    }
}

/// Collects the mistakes of parts that are read one after another. A wrong part does not prevent the reading of the
/// others.
#[derive(Debug, Default)]
pub(in crate::plan) struct Mistakes(Option<Mistake>);

impl Mistakes {
    pub(in crate::plan) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the value of a part. If the part is wrong, keeps its mistakes and returns `otherwise`.
    pub(in crate::plan) fn or<T>(&mut self, part: Result<T, Mistake>, otherwise: T) -> T {
        self.or_if(&|_| true, part, otherwise)
    }

    /// Like [`or`](Self::or), but drops mistakes for which the predicate is false, because they may follow from
    /// other mistakes.
    pub(in crate::plan) fn or_if<T>(
        &mut self,
        is_wanted: &dyn Fn(&Problem) -> bool,
        part: Result<T, Mistake>,
        otherwise: T,
    ) -> T {
        part.unwrap_or_else(|mistake| {
            if let Some(mistake) = mistake.only(is_wanted) {
                self.0 = Some(match self.0.take() {
                    None => mistake,
                    Some(first) => first.and(mistake),
                });
            }
            otherwise
        })
    }

    /// Returns `whole` if no part was wrong. Otherwise returns all mistakes.
    pub(in crate::plan) fn end<T>(self, whole: T) -> Result<T, Mistake> {
        self.0.map_or(Ok(whole), Err)
    }
}

impl From<Problem> for Mistake {
    fn from(problem: Problem) -> Self {
        Self { span: None, problem, follows: false, next: None }
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
