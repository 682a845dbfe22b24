//! Reads TOML with serde and reports errors as data: what is wrong, in which key, and where. The deserializer of
//! the crate `toml` reports errors only as text.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::vec;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::Scalar;

/// Limit of reported mistakes in the structure of a file.
const MISTAKES_MAX: usize = 20;

/// The result of reading a file.
pub(in crate::plan) enum Read<T> {
    /// Everything was read.
    Whole(T),
    /// Some keys and elements are wrong. The mistakes are about these. Everything else was read.
    Rest(T, Mistake),
    /// So much is wrong that nothing could be read.
    Nothing(Mistake),
}

/// Reads a file. `what` is the name of the top-level table in errors.
pub(in crate::plan) fn read<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Mistake> {
    match read_rest(text, what) {
        Read::Whole(table) => Ok(table),
        Read::Rest(_, mistakes) | Read::Nothing(mistakes) => Err(mistakes),
    }
}

/// Reads a file except its wrong parts. After each mistake, the wrong value is left out and the file is read again,
/// to find further mistakes.
pub(in crate::plan) fn read_rest<T: DeserializeOwned>(text: &str, what: &str) -> Read<T> {
    let mut mistakes = match read_without(text, what, &[]) {
        Ok(table) => return Read::Whole(table),
        Err(mistake) => mistake,
    };
    let mut without: Vec<Range<usize>> = mistakes.span().cloned().into_iter().collect();
    // If a table lacks a required key, the mistake's place is the table, so the whole table is left out.
    let mut has_all_tables = !matches!(mistakes.problem, Problem::MissingKey { .. });
    while without.len() < MISTAKES_MAX {
        let mistake = match read_without(text, what, &without) {
            Ok(table) if has_all_tables => return Read::Rest(table, mistakes),
            Ok(_) => break,
            Err(mistake) => mistake,
        };
        match mistake.span() {
            Some(span) if !without.contains(span) => without.push(span.clone()),
            _ => break,
        }
        has_all_tables &= !matches!(mistake.problem, Problem::MissingKey { .. });
        if !mistake.follows() {
            mistakes = mistakes.and(mistake);
        }
    }
    Read::Nothing(mistakes)
}

/// Reads a file except the keys, values and elements at the places `without`.
fn read_without<T: DeserializeOwned>(text: &str, what: &str, without: &[Range<usize>]) -> Result<T, Mistake> {
    let table = DeTable::parse(text).map_err(|error| {
        Mistake::at(
            error.span().unwrap_or_default(),
            Problem::Syntax(error.message().trim().replace('\n', ", ")),
        )
    })?;
    // An error without a place of its own is reported at the beginning of the file.
    let place = Place { span: 0..0, path: vec![what.to_owned()], is_element: false };
    Value { place, wanted: None, without, inner: DeValue::Table(table.into_inner()) }.read(PhantomData)
}

/// The place of a value in the file.
#[derive(Clone)]
pub(in crate::plan) struct Place {
    pub(in crate::plan) span: Range<usize>,
    /// The name of the top-level table, and then the keys that lead to the value.
    path: Vec<String>,
    /// Whether the value is an element of the list at the end of the path.
    is_element: bool,
}

impl Place {
    pub(in crate::plan) fn key(&self) -> &str {
        self.path.last().map_or("", |key| key)
    }

    /// Returns the name of the table at this place: `the plan`, `[data]` or `a [[step.background]]`.
    pub(in crate::plan) fn table(&self) -> String {
        match (&self.path[1..], self.is_element) {
            ([], _) => self.path[0].clone(),
            (keys, true) => format!("a [[{}]]", keys.join(".")),
            (keys, false) => format!("[{}]", keys.join(".")),
        }
    }
}

/// Keys of a table that are left out because of earlier mistakes.
#[derive(Default)]
pub(in crate::plan) struct LeftOut {
    /// Whether one of them is unknown, and may be the misspelt name of another key.
    has_unknown: bool,
    /// Those with a wrong value.
    wrong: Vec<String>,
}

impl LeftOut {
    /// Returns whether a key may be missing only because it, or its misspelt name, was left out.
    pub(in crate::plan) fn explains(&self, missing: &str) -> bool {
        self.has_unknown || self.wrong.iter().any(|key| key == missing)
    }
}

/// A value of a plan. Texts and lists in a plan must not be empty.
///
/// Error messages use serde's names of types to say what a plan may have. The name of a newtype is a phrase, such as `a
/// list of whole numbers`. For an enum, messages list the names of its variants. A variant with content has the name of
/// the kind of value that it takes, such as `a number`.
struct Value<'de> {
    place: Place,
    /// Name of the newtype that contains the value, for errors.
    wanted: Option<&'static str>,
    /// Places of the keys, values and elements that are left out.
    without: &'de [Range<usize>],
    inner: DeValue<'de>,
}

impl<'de> Value<'de> {
    /// Reads the value. Mistakes without a place get the place of this value.
    fn read<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        let place = self.place.clone();
        let left_out = self.left_out();
        seed.deserialize(self).map_err(|mistake| mistake.within(&place, &left_out))
    }

    /// Returns the keys of this table that are left out.
    fn left_out(&self) -> LeftOut {
        let DeValue::Table(table) = &self.inner else { return LeftOut::default() };
        let (unknown, wrong): (Vec<_>, Vec<_>) = table
            .iter()
            .filter(|(key, value)| is_out(self.without, key, value))
            .map(|(key, _)| key)
            .partition(|key| self.without.contains(&key.span()));
        let wrong = wrong.into_iter().map(|key| key.get_ref().to_string()).collect();
        LeftOut { has_unknown: !unknown.is_empty(), wrong }
    }

    fn kind(&self) -> &'static str {
        match self.inner {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    fn wrong_type(&self, wanted: &str) -> Mistake {
        let wanted = self.wanted.unwrap_or(wanted).to_owned();
        Problem::WrongType { key: String::new(), wanted, found: self.kind() }.into()
    }

    /// Reads a text, number or boolean as the text that it would be on a command line.
    fn scalar(self) -> Result<String, Mistake> {
        match &self.inner {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Ok(number.to_string()),
                Err(_) => Err(out_of_range("a number that fits 128 bits")),
            },
            DeValue::Float(number) => Ok(number.to_string()),
            DeValue::Boolean(truth) => Ok(truth.to_string()),
            _ => Err(self.wrong_type(Scalar::NAME)),
        }
    }
}

/// Declares methods that accept only some kinds of values.
macro_rules! only {
    ($($method:ident: $kinds:pat, $wanted:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
            match self.inner {
                $kinds => self.deserialize_any(visitor),
                _ => Err(self.wrong_type($wanted)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Mistake;

    only! {
        deserialize_bool: DeValue::Boolean(_), "true or false";
        deserialize_i64: DeValue::Integer(_), "a whole number";
        deserialize_f64: DeValue::Integer(_) | DeValue::Float(_), "a number";
        deserialize_string: DeValue::String(_), "a text";
        deserialize_seq: DeValue::Array(_), "a list";
        deserialize_map: DeValue::Table(_), "a table";
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.inner {
            DeValue::String(ref text) if text.trim().is_empty() => {
                Err(out_of_range("a text that is not empty"))
            }
            DeValue::String(text) => visitor.visit_string(text.into_owned()),
            DeValue::Integer(ref number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => Err(out_of_range("a number that fits 64 bits")),
            },
            DeValue::Float(ref number) => match number.as_str().parse() {
                Ok(number) if f64::is_finite(number) => visitor.visit_f64(number),
                _ => Err(out_of_range("a finite number")),
            },
            DeValue::Boolean(truth) => visitor.visit_bool(truth),
            DeValue::Datetime(_) => Err(self.wrong_type("of another kind")),
            DeValue::Array(ref elements) if elements.is_empty() => {
                Err(out_of_range(format!("{} that is not empty", self.wanted.unwrap_or("a list"))))
            }
            DeValue::Array(elements) => {
                visitor.visit_seq(Items::of_list(elements, &self.place, self.without))
            }
            DeValue::Table(table) => visitor.visit_map(Items::of_table(table, &self.place, self.without)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match name {
            Scalar::NAME => visitor.visit_newtype_struct(self.scalar()?.into_deserializer()),
            _ => visitor.visit_newtype_struct(Self { wanted: Some(name), ..self }),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        if is_spanned(name) {
            let span = self.place.span.clone();
            return visitor.visit_map(SpannedDeserializer::new(self, span));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let is_number = matches!(self.inner, DeValue::Integer(_) | DeValue::Float(_));
        let fits = |variant: &&&str| **variant == self.kind() || **variant == "a number" && is_number;
        if let Some(kind) = variants.iter().find(fits) {
            let item = (Spanned::new(self.place.span.clone(), Cow::Borrowed(*kind)), self);
            return visitor.visit_enum(MapAccessDeserializer::new(Items::new(vec![item])));
        }
        let are_words = !variants.iter().any(is_kind);
        match &self.inner {
            DeValue::String(text) if are_words || variants.contains(&text.as_ref()) => {
                visitor.visit_enum(text.as_ref().into_deserializer())
            }
            DeValue::String(_) => Err(out_of_range(any_of(variants))),
            _ if are_words => Err(self.wrong_type("a text")),
            _ => Err(self.wrong_type(&any_of(variants))),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 char str bytes byte_buf unit unit_struct tuple tuple_struct identifier
        ignored_any
    }
}

fn out_of_range(wanted: impl Into<String>) -> Mistake {
    Problem::OutOfRange { key: String::new(), wanted: wanted.into() }.into()
}

/// Returns whether a key and its value are left out.
fn is_out(without: &[Range<usize>], key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> bool {
    // A list of tables has the same place as its first table, so an equal place in `without` means the first table
    // only.
    let is_list_of_tables = matches!(
        value.get_ref(), DeValue::Array(list) if list.first().is_some_and(|first| first.span() == value.span())
    );
    without.contains(&key.span()) || !is_list_of_tables && without.contains(&value.span())
}

/// Returns whether the name of a variant is a kind of value, such as `a number`, rather than a word of plans.
fn is_kind(variant: &&str) -> bool {
    variant.contains(' ')
}

/// Lists variants for errors, such as `"auto", "whole" or a number`.
fn any_of(variants: &[&str]) -> String {
    let quoted = |it: &&str| if is_kind(it) { (*it).to_owned() } else { format!("\"{it}\"") };
    let words: Vec<_> = variants.iter().map(quoted).collect();
    match words.split_last() {
        Some((last, others @ [_, ..])) => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

impl<'de> IntoDeserializer<'de, Mistake> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The elements of a list, or the keys and values of a table.
struct Items<'de> {
    rest: vec::IntoIter<(Spanned<Cow<'de, str>>, Value<'de>)>,
    /// The value of the key that was returned last.
    value: Option<Value<'de>>,
}

impl<'de> Items<'de> {
    fn new(items: Vec<(Spanned<Cow<'de, str>>, Value<'de>)>) -> Self {
        Self { rest: items.into_iter(), value: None }
    }

    fn of_list(elements: DeArray<'de>, list: &Place, without: &'de [Range<usize>]) -> Self {
        let item = |element: Spanned<DeValue<'de>>| {
            let place = Place { span: element.span(), is_element: true, ..list.clone() };
            let no_key = Spanned::new(element.span(), Cow::Borrowed(""));
            (no_key, Value { place, wanted: None, without, inner: element.into_inner() })
        };
        let kept = elements.into_iter().filter(|element| !without.contains(&element.span()));
        Self::new(kept.map(item).collect())
    }

    /// Returns the keys in the order of the file, so that the first mistake in the file is found first.
    fn of_table(entries: DeTable<'de>, table: &Place, without: &'de [Range<usize>]) -> Self {
        let item = |(key, value): (Spanned<Cow<'de, str>>, Spanned<DeValue<'de>>)| {
            let path = [&table.path[..], &[key.get_ref().to_string()]].concat();
            let place = Place { span: value.span(), path, is_element: false };
            (key, Value { place, wanted: None, without, inner: value.into_inner() })
        };
        let kept = entries.into_iter().filter(|(key, value)| !is_out(without, key, value));
        let mut items: Vec<_> = kept.map(item).collect();
        items.sort_by_key(|(key, _)| key.span().start);
        Self::new(items)
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mistake> {
        self.rest.next().map(|(_, element)| element.read(seed)).transpose()
    }
}

impl<'de> MapAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let span = key.span();
        let key = seed.deserialize(key.into_inner().into_deserializer());
        key.map(Some).map_err(|mistake: Mistake| mistake.or_at(span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        self.value.take().expect("serde reads a key before its value").read(seed)
    }
}
