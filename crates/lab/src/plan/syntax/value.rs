//! Types of values: what a key accepts, and where in the file the value is.

use std::collections::BTreeMap;
use std::ops::{Deref, Range};

use dyno_host::{CpuSet, CpuSetError, SizeError, parse_bytes};
use dyno_store::{CLIENT_COUNTS_MAX, NAME_BYTES_MAX};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::{Mistake, Mistakes};

/// A value together with its place in the file. Some values are checked only after the whole file was read, for example
/// because they are looked up or compared with other values. The error then still shows the place.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(in crate::plan) struct At<T>(Spanned<T>);

impl<T> At<T> {
    /// Converts the value. An error without a place gets the place of the value.
    pub(in crate::plan) fn read<U, E: Into<Mistake>>(
        self,
        read: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<U, Mistake> {
        let span = self.0.span();
        read(self.0.into_inner()).map_err(|error| error.into().or_at(span))
    }

    /// Returns an error at the place of the value.
    pub(in crate::plan) fn wrong(&self, error: impl Into<Mistake>) -> Mistake {
        error.into().or_at(self.0.span())
    }

    pub(in crate::plan) fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Returns the byte range of the value in the file.
    pub(in crate::plan) fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

/// A name that results files accept.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("maxLength" = NAME_BYTES_MAX)))]
#[serde(try_from = "String")]
pub(in crate::plan) struct Name(String);

impl Name {
    pub(in crate::plan) fn into_inner(self) -> String {
        self.0
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name.len() > NAME_BYTES_MAX {
            return Err(format!(
                "a name may have at most {NAME_BYTES_MAX} bytes, and this one has {}",
                name.len()
            ));
        }
        Ok(Self(name))
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(in crate::plan) struct Whole<const MIN: u64, const MAX: u64>(pub(in crate::plan) u64);

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        match u64::try_from(number) {
            Ok(number) if (MIN..=MAX).contains(&number) => Ok(Self(number)),
            _ => {
                let wanted = format!("from {MIN} to {MAX}");
                Err(D::Error::invalid_value(Unexpected::Signed(number), &wanted.as_str()))
            }
        }
    }
}

impl<const MAX: u64> Default for Whole<0, MAX> {
    fn default() -> Self {
        Self(0)
    }
}

/// A number above 0. With `ZERO`, also 0.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(in crate::plan) struct Number<const ZERO: bool>(pub(in crate::plan) f64);

pub(in crate::plan) type Above0 = Number<false>;
pub(in crate::plan) type From0 = Number<true>;

impl<'de, const ZERO: bool> Deserialize<'de> for Number<ZERO> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if number > 0.0 || ZERO && number == 0.0 {
            return Ok(Self(number));
        }
        let wanted = if ZERO { "0 or more" } else { "above 0" };
        Err(D::Error::invalid_value(Unexpected::Float(number), &wanted))
    }
}

/// A latency in milliseconds, from 0 to ten seconds.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) struct Milliseconds(pub(in crate::plan) f64);

impl<'de> Deserialize<'de> for Milliseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if (0.0..=Self::MAX).contains(&number) {
            return Ok(Self(number));
        }
        Err(D::Error::invalid_value(Unexpected::Float(number), &"from 0 to 10000"))
    }
}

impl Milliseconds {
    pub(in crate::plan) const MAX: f64 = 10_000.0;
}

/// A text, a number or a boolean, converted to a text as it would be written on a command line.
#[derive(Debug, Deserialize)]
#[serde(rename = "a text, a number, true or false")]
pub(in crate::plan) struct Scalar(String);

impl Scalar {
    pub(in crate::plan) fn into_inner(self) -> String {
        self.0
    }

    /// The name by which the deserializer recognises the type.
    pub(in crate::plan) const NAME: &'static str = "a text, a number, true or false";
}

/// Settings or options: names with scalar values.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "BTreeMap<String, Scalar>")]
pub(in crate::plan) struct Scalars(pub(in crate::plan) BTreeMap<String, String>);

impl From<BTreeMap<String, Scalar>> for Scalars {
    fn from(scalars: BTreeMap<String, Scalar>) -> Self {
        Self(scalars.into_iter().map(|(name, scalar)| (name, scalar.0)).collect())
    }
}

/// A size in bytes, or with K, M, G or T: 512M.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Scalar")]
pub(in crate::plan) struct Size(pub(in crate::plan) u64);

impl TryFrom<Scalar> for Size {
    type Error = SizeError;

    fn try_from(scalar: Scalar) -> Result<Self, SizeError> {
        parse_bytes(&scalar.0).map(Self)
    }
}

/// CPUs, such as 0-3,6.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Scalar")]
pub(in crate::plan) struct Cpus(pub(in crate::plan) CpuSet);

impl TryFrom<Scalar> for Cpus {
    type Error = CpuSetError;

    fn try_from(scalar: Scalar) -> Result<Self, CpuSetError> {
        scalar.0.parse().map(Self)
    }
}

/// Numbers of connections.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("maxItems" = CLIENT_COUNTS_MAX, "uniqueItems" = true)))]
#[serde(rename = "a list of whole numbers")]
pub(in crate::plan) struct Clients(Vec<At<ClientsNumber>>);

/// A number of connections. The limit catches typing errors.
pub(in crate::plan) type ClientsNumber = Whole<1, 100_000>;

impl Clients {
    /// Returns an error if a number is listed twice, or if there are too many numbers.
    pub(in crate::plan) fn read(self) -> Result<Vec<u32>, Mistake> {
        let mut clients = Vec::new();
        for number in self.0 {
            let count = number.0.get_ref().0 as u32;
            if clients.contains(&count) {
                return Err(number.wrong(format!("`clients` names {count} twice")));
            }
            if clients.len() == CLIENT_COUNTS_MAX {
                return Err(number.wrong(format!("`clients` has more than {CLIENT_COUNTS_MAX} numbers")));
            }
            clients.push(count);
        }
        Ok(clients)
    }
}

/// Reads a list of tables, and appends the results to `items`. Ids must differ from each other and from those of
/// `items`. `read` gets a table and the items before it.
pub(in crate::plan) fn each<T, U>(
    items: Vec<U>,
    list: Vec<At<T>>,
    kind: &'static str,
    read: impl Fn(T, &[U]) -> Result<U, Mistake>,
    id: impl Fn(&U) -> &String,
) -> Result<Vec<U>, Mistake> {
    each_several(items, list, kind, |table, items| Ok(vec![read(table, items)?]), id)
}

/// Like [`each`], but a table may make several items. Finds the mistakes of all tables. After a wrong table, an
/// unknown earlier step is not reported, because the wrong table may define that step.
pub(in crate::plan) fn each_several<T, U>(
    mut items: Vec<U>,
    list: Vec<At<T>>,
    kind: &'static str,
    read: impl Fn(T, &[U]) -> Result<Vec<U>, Mistake>,
    id: impl Fn(&U) -> &String,
) -> Result<Vec<U>, Mistake> {
    let mut mistakes = Mistakes::default();
    for table in list {
        let of_table = table.read(|table| {
            let of_table = read(table, &items)?;
            for (at, item) in of_table.iter().enumerate() {
                if items.iter().chain(&of_table[..at]).any(|earlier| id(earlier) == id(item)) {
                    let id = id(item);
                    return Err(format!("there are two {kind}s `{id}`; give one of them another id").into());
                }
                // Ids of a sweep are made from its settings, so they may become long.
                let bytes = id(item).len();
                if bytes > NAME_BYTES_MAX {
                    let problem = format!("the id of a {kind} has {bytes} bytes, more than {NAME_BYTES_MAX}");
                    return Err(problem.into());
                }
            }
            Ok::<_, Mistake>(of_table)
        });
        let is_first = mistakes.is_empty();
        let is_its_own = |problem: &Problem| is_first || !problem.is_unknown("earlier step");
        items.extend(mistakes.or_if(&is_its_own, of_table, Vec::new()));
    }
    mistakes.end(items)
}
