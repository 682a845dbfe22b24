//! A problem while its place in the file is being found, and those found after it.

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
    /// Whether it follows from an earlier mistake: the missing key was misspelt.
    follows: bool,
    /// The mistake that was found after it.
    next: Option<Box<Mistake>>,
}

impl Mistake {
    pub(in crate::plan) fn at(span: Range<usize>, problem: Problem) -> Self {
        Self { span: Some(span), ..Self::from(problem) }
    }

    /// Its range.
    pub(in crate::plan) fn span(&self) -> Option<&Range<usize>> {
        self.span.as_ref()
    }

    pub(in crate::plan) fn follows(&self) -> bool {
        self.follows
    }

    /// Joins two lists of mistakes.
    pub(in crate::plan) fn and(self, other: Self) -> Self {
        let next = match self.next {
            None => other,
            Some(next) => next.and(other),
        };
        Self { next: Some(Box::new(next)), ..self }
    }

    /// The mistakes for which a predicate holds.
    pub(in crate::plan) fn only(self, is_wanted: &dyn Fn(&Problem) -> bool) -> Option<Self> {
        let mut all = self.all().into_iter().filter(|mistake| is_wanted(&mistake.problem));
        let first = all.next()?;
        Some(all.fold(first, Self::and))
    }

    /// The mistakes one by one.
    fn all(self) -> Vec<Self> {
        let mut all = Vec::new();
        let mut next = Some(Box::new(self));
        while let Some(mut mistake) = next {
            next = mistake.next.take();
            all.push(*mistake);
        }
        all
    }

    /// Gives it a range, unless it has a narrower one already.
    pub(in crate::plan) fn or_at(self, span: Range<usize>) -> Self {
        Self { span: self.span.or(Some(span)), ..self }
    }

    /// Gives it the place of a value, unless it has a narrower one already. `lacks_keys` says that the value
    /// is a table from which keys were left out.
    pub(in crate::plan) fn within(mut self, place: &Place, lacks_keys: bool) -> Self {
        if self.span.is_some() {
            return self;
        }
        self.follows = lacks_keys && matches!(self.problem, Problem::MissingKey { .. });
        match &mut self.problem {
            Problem::UnknownValue { key, .. }
            | Problem::WrongType { key, .. }
            | Problem::OutOfRange { key, .. } => place.key().clone_into(key),
            Problem::MissingKey { table, .. } => *table = place.table(),
            _ => {}
        }
        self.or_at(place.span.clone())
    }

    /// The errors to show, in the order of the file. An error without a range is shown at the file's
    /// beginning.
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

/// Collects the mistakes of parts that are read one after another. A wrong part does not stop the reading of
/// the others.
#[derive(Debug, Default)]
pub(in crate::plan) struct Mistakes(Option<Mistake>);

impl Mistakes {
    pub(in crate::plan) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Takes a part. If the part is wrong, keeps its mistakes and returns `otherwise` in its place.
    pub(in crate::plan) fn or<T>(&mut self, part: Result<T, Mistake>, otherwise: T) -> T {
        self.or_if(&|_| true, part, otherwise)
    }

    /// As [`or`](Self::or), but drops mistakes for which the predicate does not hold, because they follow
    /// from others.
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

    /// Returns the whole if no part was wrong, otherwise all mistakes.
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
