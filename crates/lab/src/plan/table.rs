//! Reads TOML tables key by key, so that every error has its place.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Problem;

/// A problem with its byte range in the file.
pub(super) type Mistake = (Range<usize>, Problem);

/// A table of known keys. Each value is taken out once.
pub(super) struct Table<'a> {
    /// The table in words: `the plan`, `a system`.
    what: &'static str,
    span: Range<usize>,
    entries: DeTable<'a>,
}

/// A key's value, or an element of its array.
pub(super) struct Value<'a> {
    key: String,
    pub(super) span: Range<usize>,
    inner: DeValue<'a>,
}

impl<'a> Table<'a> {
    /// An error if the table has keys other than `known`.
    pub(super) fn new(
        what: &'static str,
        table: Spanned<DeTable<'a>>,
        known: &[&'static str],
    ) -> Result<Self, Mistake> {
        let span = table.span();
        let entries = table.into_inner();
        // Keys are sorted by name; the error to show is the first in the file.
        let unknown = entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        if let Some(key) = unknown.min_by_key(|key| key.span().start) {
            let known = known.iter().map(ToString::to_string).collect();
            return Err((key.span(), Problem::UnknownKey { key: key.get_ref().to_string(), known }));
        }
        Ok(Self { what, span, entries })
    }

    /// The value of an optional key.
    pub(super) fn optional(&mut self, key: &str) -> Option<Value<'a>> {
        let (key, value) = self.entries.remove_entry(key)?;
        Some(Value { key: key.into_inner().into_owned(), span: value.span(), inner: value.into_inner() })
    }

    /// An error if a key is missing.
    pub(super) fn expect(&self, key: &'static str) -> Result<(), Mistake> {
        if self.entries.contains_key(key) { Ok(()) } else { Err(self.missing(key)) }
    }

    fn missing(&self, key: &'static str) -> Mistake {
        (self.span.clone(), Problem::MissingKey { table: self.what.to_owned(), key })
    }

    /// The error that neither of two keys is there.
    pub(super) fn missing_one_of(&self, key: &'static str, other: &'static str) -> Mistake {
        (self.span.clone(), Problem::MissingOneOf { table: self.what.to_owned(), key, other })
    }

    /// The value of a required key.
    pub(super) fn required(&mut self, key: &'static str) -> Result<Value<'a>, Mistake> {
        self.optional(key).ok_or_else(|| self.missing(key))
    }
}

impl<'a> Value<'a> {
    /// A text that is not empty.
    pub(super) fn text(self) -> Result<String, Mistake> {
        match self.inner {
            DeValue::String(ref text) if text.trim().is_empty() => {
                Err(self.out_of_range("a text that is not empty"))
            }
            DeValue::String(text) => Ok(text.into_owned()),
            _ => Err(self.wrong_type("a text")),
        }
    }

    /// A whole number in a range.
    pub(super) fn whole(self, range: Range<u64>) -> Result<u64, Mistake> {
        let DeValue::Integer(ref number) = self.inner else { return Err(self.wrong_type("a whole number")) };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(self.out_of_range(&format!("from {} to {}", range.start, range.end - 1))),
        }
    }

    /// A number of seconds, 0 allowed or not.
    pub(super) fn seconds(self, zero_allowed: bool) -> Result<f64, Mistake> {
        match self.finite() {
            None => Err(self.wrong_type("a number of seconds")),
            Some(seconds) if seconds > 0.0 || zero_allowed && seconds == 0.0 => Ok(seconds),
            Some(_) if zero_allowed => Err(self.out_of_range("0 seconds or more")),
            Some(_) => Err(self.out_of_range("more than 0 seconds")),
        }
    }

    /// A number above 0.
    pub(super) fn positive(self) -> Result<f64, Mistake> {
        match self.finite() {
            None => Err(self.wrong_type("a number")),
            Some(number) if number > 0.0 => Ok(number),
            Some(_) => Err(self.out_of_range("above 0")),
        }
    }

    /// A number that is not negative.
    pub(super) fn number_from_0(self) -> Result<f64, Mistake> {
        match self.finite() {
            None => Err(self.wrong_type("a number")),
            Some(number) if number >= 0.0 => Ok(number),
            Some(_) => Err(self.out_of_range("0 or more")),
        }
    }

    pub(super) fn number(self) -> Result<f64, Mistake> {
        self.finite().ok_or(()).map_err(|()| self.wrong_type("a number"))
    }

    /// The number, if it is one.
    pub(super) fn finite(&self) -> Option<f64> {
        let text = match &self.inner {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => return None,
        };
        text.parse::<f64>().ok().filter(|number| number.is_finite())
    }

    pub(super) fn truth(self) -> Result<bool, Mistake> {
        match self.inner {
            DeValue::Boolean(truth) => Ok(truth),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// Whether it is a text.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.inner, DeValue::String(_))
    }

    /// Whether it is an array.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.inner, DeValue::Array(_))
    }

    /// Whether it is a table.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.inner, DeValue::Table(_))
    }

    /// Whether it is a certain text.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.inner, DeValue::String(text) if text == word)
    }

    /// One of some names.
    pub(super) fn one_of<T: Copy>(self, kind: &'static str, names: &[(&str, T)]) -> Result<T, Mistake> {
        let span = self.span.clone();
        let name = self.text()?;
        names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
            let known = names.iter().map(|(known, _)| (*known).to_owned()).collect();
            (span, Problem::UnknownName { kind, name, known })
        })
    }

    /// A text, number or boolean, as on a command line.
    pub(super) fn scalar(self) -> Result<String, Mistake> {
        match self.inner {
            DeValue::String(text) => Ok(text.into_owned()),
            DeValue::Integer(ref number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Ok(number.to_string()),
                Err(_) => Err(self.out_of_range("a number that fits 128 bits")),
            },
            DeValue::Float(number) => Ok(number.to_string()),
            DeValue::Boolean(truth) => Ok(truth.to_string()),
            _ => Err(self.wrong_type("a text, a number, true or false")),
        }
    }

    /// The elements of an array that is not empty.
    pub(super) fn list(self, wanted: &'static str) -> Result<Vec<Self>, Mistake> {
        match self.inner {
            DeValue::Array(ref elements) if elements.is_empty() => {
                Err(self.out_of_range(&format!("{wanted} that is not empty")))
            }
            DeValue::Array(elements) => Ok(elements
                .into_iter()
                .map(|value| Value { key: self.key.clone(), span: value.span(), inner: value.into_inner() })
                .collect()),
            _ => Err(self.wrong_type(wanted)),
        }
    }

    /// A table that may have the keys `known`.
    pub(super) fn table(self, what: &'static str, known: &[&'static str]) -> Result<Table<'a>, Mistake> {
        match self.inner {
            DeValue::Table(entries) => Table::new(what, Spanned::new(self.span, entries), known),
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// A table with any keys, sorted by name.
    pub(super) fn entries(self) -> Result<Vec<(String, Value<'a>)>, Mistake> {
        match self.inner {
            DeValue::Table(entries) => Ok(entries
                .into_iter()
                .map(|(key, value)| {
                    let key = key.into_inner().into_owned();
                    (key.clone(), Value { key, span: value.span(), inner: value.into_inner() })
                })
                .collect()),
            _ => Err(self.wrong_type("a table")),
        }
    }

    fn wrong_type(self, wanted: &'static str) -> Mistake {
        let found = match self.inner {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        (self.span, Problem::WrongType { key: self.key, wanted, found })
    }

    /// The error that the value is out of range.
    pub(super) fn out_of_range(self, wanted: &str) -> Mistake {
        (self.span, Problem::OutOfRange { key: self.key, wanted: wanted.to_owned() })
    }
}
