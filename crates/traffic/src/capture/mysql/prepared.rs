//! Prepared statements of a connection, and the text of their executions (`COM_STMT_PREPARE`, `COM_STMT_EXECUTE`
//! and `COM_STMT_SEND_LONG_DATA` in MySQL's source documentation).

use std::collections::{BTreeMap, HashMap};

use super::values::{Kind, write_value};
use crate::capture::bytes::Bytes;
use crate::input::STATEMENT_BYTES_MAX;
use crate::log::{with_literals, write_string};

/// Largest number of prepared statements that are kept for a connection. By default, a server allows 16,382 for all
/// connections together.
const STATEMENTS_MAX: usize = 16_382;
/// MariaDB's clients may use this number for the statement that was prepared last.
const LAST: u32 = u32::MAX;
/// The flag of an execution that sends the number of its parameters.
const PARAMETER_COUNT_AVAILABLE: u8 = 1 << 3;

/// Prepared statements by their numbers.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    statements: HashMap<u32, Statement>,
    /// Values that were sent before the execution, by the numbers of their statements and parameters.
    long: BTreeMap<(u32, u16), Vec<u8>>,
    last: u32,
    /// Memory for statements, and memory for values that were sent before the execution, in bytes.
    bytes: usize,
    long_bytes: usize,
}

#[derive(Debug)]
struct Statement {
    text: Vec<u8>,
    parameters: u16,
    /// Types of the parameters. Clients send them with the first execution, and again when they change.
    kinds: Vec<Kind>,
}

impl Statement {
    fn held_bytes(&self) -> usize {
        self.text.len() + self.kinds.len() * size_of::<Kind>() + size_of::<Self>()
    }
}

/// The result of reading an execution.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Executed {
    Text(Vec<u8>),
    /// The text of the statement is not known, for example because it was prepared before the capture began.
    WithoutText,
    /// The values cannot be read.
    WithoutValues,
}

impl Prepared {
    /// Adds the statement that a server has prepared, from the server's answer.
    pub(super) fn add(&mut self, text: Vec<u8>, answer: &[u8]) {
        let mut bytes = Bytes(answer);
        let parts = || Some((bytes.u8()?, bytes.u32_le()?, bytes.u16_le()?, bytes.u16_le()?));
        let Some((_, number, _columns, parameters)) = { parts }() else { return };
        self.close(number);
        self.last = number;
        if self.statements.len() < STATEMENTS_MAX {
            let statement = Statement { text, parameters, kinds: Vec::new() };
            self.bytes += statement.held_bytes();
            self.statements.insert(number, statement);
        }
    }

    pub(super) fn close(&mut self, number: u32) {
        self.reset(number);
        if let Some(statement) = self.statements.remove(&number) {
            self.bytes -= statement.held_bytes();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets all values that were sent before an execution. Some parts of these values may not have been captured.
    pub(super) fn forget_long_data(&mut self) {
        self.long.clear();
        self.long_bytes = 0;
    }

    /// Forgets the values that were sent for the next execution of this statement.
    pub(super) fn reset(&mut self, number: u32) {
        let range = (number, 0)..=(number, u16::MAX);
        while let Some((key, value)) = self.long.range(range.clone()).next() {
            let (key, bytes) = (*key, value.len());
            self.long.remove(&key);
            self.long_bytes -= bytes;
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.bytes + self.long_bytes
    }

    /// Adds a part of a value, from the payload of its packet.
    pub(super) fn add_long_data(&mut self, payload: &[u8]) {
        let mut bytes = Bytes(payload.get(1..).unwrap_or_default());
        let (Some(number), Some(parameter)) = (bytes.u32_le(), bytes.u16_le()) else { return };
        if self.statements.get(&number).is_none_or(|statement| parameter >= statement.parameters) {
            return;
        }
        let value = self.long.entry((number, parameter)).or_default();
        if value.len() + bytes.0.len() <= STATEMENT_BYTES_MAX {
            value.extend_from_slice(bytes.0);
            self.long_bytes += bytes.0.len();
        }
    }

    /// Returns the statement that an execution runs, with its values. `payload` is the execution's packet.
    /// `has_attributes` says whether executions have attributes (`CLIENT_QUERY_ATTRIBUTES`); `None` if this is not
    /// known.
    pub(super) fn execute(&mut self, payload: &[u8], has_attributes: Option<bool>) -> Executed {
        let mut bytes = Bytes(payload.get(1..).unwrap_or_default());
        let Some(number) = bytes.u32_le() else { return Executed::WithoutText };
        let number = if number == LAST { self.last } else { number };
        let Some(statement) = self.statements.get_mut(&number) else { return Executed::WithoutText };
        let before = statement.held_bytes();
        let long = |parameter| self.long.get(&(number, parameter)).map(Vec::as_slice);
        let text = statement.execute(&mut bytes, has_attributes, long);
        self.bytes = self.bytes + statement.held_bytes() - before;
        self.reset(number);
        text.map_or(Executed::WithoutValues, Executed::Text)
    }
}

impl Statement {
    fn execute<'a>(
        &mut self,
        bytes: &mut Bytes<'_>,
        has_attributes: Option<bool>,
        long: impl Fn(u16) -> Option<&'a [u8]>,
    ) -> Option<Vec<u8>> {
        let flags = bytes.u8()?;
        bytes.u32_le()?;
        let counts = flags & PARAMETER_COUNT_AVAILABLE != 0;
        let has_attributes = has_attributes.unwrap_or(counts);
        let mut count = usize::from(self.parameters);
        if has_attributes && (count > 0 || counts) {
            // The count includes attributes, which follow the parameters.
            count = usize::try_from(bytes.lenenc()?).ok()?;
        }
        if self.parameters == 0 {
            return Some(self.text.clone());
        }
        let nulls = bytes.take(count.div_ceil(8))?;
        if bytes.u8()? == 1 {
            self.kinds = kinds(bytes, count, has_attributes)?;
        }
        let Self { text, parameters, kinds } = self;
        let mut number = 0;
        let written = with_literals(text, &mut |text| {
            if number == *parameters || text.len() > STATEMENT_BYTES_MAX {
                return None;
            }
            let place = usize::from(number);
            let kind = *kinds.get(place)?;
            if let Some(value) = long(number) {
                write_string(value, text);
            } else if nulls.get(place / 8)? & (1 << (place % 8)) != 0 {
                text.extend_from_slice(b"NULL");
            } else {
                write_value(kind, bytes, text)?;
            }
            number += 1;
            Some(())
        });
        // The known types may be out of date, if the client sent new types in packets that were not captured. Values
        // that are read with wrong types usually do not end exactly at the end of the packet, so they are recognised
        // and rejected.
        let is_whole = count > usize::from(*parameters) || bytes.0.is_empty();
        written.filter(|_| number == *parameters && is_whole)
    }
}

/// Reads the types of parameters.
fn kinds(bytes: &mut Bytes<'_>, count: usize, has_names: bool) -> Option<Vec<Kind>> {
    // Each type takes at least two bytes, so the size of the packet bounds the memory.
    let mut kinds = Vec::new();
    for _ in 0..count {
        kinds.push(Kind::new(bytes.array()?));
        if has_names {
            bytes.lenenc_bytes()?;
        }
    }
    Some(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(text: &str, parameters: u8) -> Prepared {
        let mut prepared = Prepared::default();
        prepared.add(text.into(), &[0, 7, 0, 0, 0, 1, 0, parameters, 0, 0, 0, 0]);
        prepared
    }

    fn text(prepared: &mut Prepared, payload: &[u8], has_attributes: Option<bool>) -> String {
        let payload = [&[0x17, 7, 0, 0, 0][..], payload].concat();
        match prepared.execute(&payload, has_attributes) {
            Executed::Text(text) => String::from_utf8(text).unwrap(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn types_are_remembered() {
        let mut prepared = prepared("SELECT ?, ?", 2);
        assert_eq!(text(&mut prepared, &[0, 1, 0, 0, 0, 0, 0, 5, 6], None), "WithoutValues");
        assert_eq!(text(&mut prepared, &[0, 1, 0, 0, 0, 0b10, 1, 1, 0, 253, 0, 5], None), "SELECT 5, NULL");
        assert_eq!(text(&mut prepared, &[0, 1, 0, 0, 0, 0, 0, 6, 1, b'a'], None), "SELECT 6, 'a'");
        assert_eq!(text(&mut prepared, &[0, 1, 0, 0, 0, 0, 0, 6, 0, 1, b'a'], None), "WithoutValues");
    }

    #[test]
    fn attributes_are_passed_over() {
        let mut prepared = prepared("SELECT ?", 1);
        let payload = [8, 1, 0, 0, 0, 2, 0, 1, 1, 0, 0, 253, 0, 1, b'k', 5, 1, b'v'];
        assert_eq!(text(&mut prepared, &payload, None), "SELECT 5");
        assert_eq!(text(&mut prepared, &payload, Some(true)), "SELECT 5");
    }

    #[test]
    fn long_data_comes_before_the_execution_and_only_for_it() {
        let mut prepared = prepared("SELECT ?, ?", 2);
        prepared.add_long_data(b"\x18\x07\0\0\0\0\0ab");
        prepared.add_long_data(b"\x18\x07\0\0\0\0\0c");
        let payload = [0, 1, 0, 0, 0, 0, 1, 252, 0, 1, 0, 5];
        assert_eq!(text(&mut prepared, &payload, None), "SELECT 'abc', 5");
        assert_eq!(text(&mut prepared, &payload, None), "WithoutValues");
        prepared.close(7);
        assert_eq!(prepared.held_bytes(), 0);
        assert_eq!(text(&mut prepared, &payload, None), "WithoutText");
    }
}
