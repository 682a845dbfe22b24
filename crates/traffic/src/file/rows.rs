//! Reads the statements of chunks. The file is not trusted, because anybody may have made it.

use std::fmt;

use rusqlite::Params;
use rusqlite::types::Type;
use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::read::{TrafficFile, classified};
use crate::error::TrafficError;

/// Largest number of statements in a chunk. A chunk with more statements is an error. Chunks that Dyno writes have at
/// most about 200 statements, because a chunk is limited to 4000 bytes, and a row has at least 20.
const STATEMENTS_MAX: usize = 4096;

/// A statement. The fields are in the order in which a chunk has them.
#[derive(Debug, Deserialize)]
pub(super) struct Row<'a> {
    /// The difference between the statement's id and the id of the chunk's first statement.
    number: i64,
    pub(super) offset_us: i64,
    pub(super) shape_id: i64,
    _source_id: IgnoredAny,
    _line: IgnoredAny,
    pub(super) database_id: Option<i64>,
    pub(super) transaction_id: Option<i64>,
    #[serde(borrow)]
    literals: Option<&'a RawValue>,
    #[serde(borrow)]
    bound: Option<&'a RawValue>,
    // A row leaves out unknown values at its end, so these fields may be missing.
    #[serde(default)]
    pub(super) latency_us: Option<i64>,
    #[serde(default)]
    _rows_sent: IgnoredAny,
    #[serde(default)]
    _rows_examined: IgnoredAny,
    #[serde(default)]
    _rows_affected: IgnoredAny,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

impl Row<'_> {
    /// The id of the statement. `first_id` is the id of the chunk's first statement.
    pub(super) fn id(&self, first_id: i64) -> i64 {
        first_id.saturating_add(self.number)
    }

    pub(super) fn literals(&self) -> Option<&str> {
        self.literals.map(RawValue::get)
    }

    pub(super) fn bound(&self) -> Option<&str> {
        self.bound.map(RawValue::get)
    }

    pub(super) fn has_error(&self) -> bool {
        self.error.is_some()
    }
}

impl TrafficFile {
    /// Calls `each` with the statements of chunks. `sql` selects two columns of each chunk: a number, which is
    /// passed to `each`, and `content`.
    pub(super) fn for_rows(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(i64, Row<'_>),
    ) -> Result<(), TrafficError> {
        let read = || {
            let mut select = self.connection.prepare_cached(sql)?;
            let mut chunks = select.query(params)?;
            while let Some(chunk) = chunks.next()? {
                let number = chunk.get(0)?;
                let json = chunk.get_ref(1)?.as_str()?;
                parse(json, &mut |row| each(number, row)).map_err(|error| {
                    rusqlite::Error::FromSqlConversionFailure(1, Type::Text, Box::new(error))
                })?;
            }
            Ok(())
        };
        read().map_err(|error| classified(&self.path, error))
    }
}

fn parse(json: &str, each: &mut dyn FnMut(Row<'_>)) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.deserialize_seq(Each(each))?;
    deserializer.end()
}

/// Parses rows one by one, and passes each row to the function.
struct Each<'e>(&'e mut dyn FnMut(Row<'_>));

impl<'de> Visitor<'de> for Each<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of statements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        for _ in 0..=STATEMENTS_MAX {
            let Some(row) = rows.next_element::<Row<'de>>()? else { return Ok(()) };
            (self.0)(row);
        }
        Err(A::Error::custom("too many statements"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_values_of_its_statement() {
        let json = r#"[[0,-1,3,1,9,1,null,[1,"a]"],null,150],[1,0,3,1,10,null,2,null,["x"],null,null,null,null,"1062"],
            [2,0,3,1,11,null,2,null,null]]"#;
        let mut seen = Vec::new();
        parse(json, &mut |row| {
            let values = [row.literals(), row.bound()].map(|values| values.map(str::to_owned));
            seen.push((row.id(7), values, row.latency_us, row.has_error()));
        })
        .unwrap();
        let expected = [
            (7, [Some(r#"[1,"a]"]"#.to_owned()), None], Some(150), false),
            (8, [None, Some(r#"["x"]"#.to_owned())], None, true),
            (9, [None, None], None, false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_is_no_chunk_is_an_error() {
        for json in ["", "[", "7", "[[1]]", "[[]] []", "{}", &format!("[{}[1]]", "[".repeat(200))] {
            assert!(parse(json, &mut |_| ()).is_err(), "{json}");
        }
    }
}
