//! The values of a statement, as a JSON array.

use std::str;

/// Writes values one after another.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    json: Vec<u8>,
    number: usize,
    /// Whether values are replaced by their lengths.
    redact: bool,
}

impl Literals {
    pub(crate) fn new(redact: bool) -> Self {
        Self { redact, ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.json.clear();
        self.number = 0;
    }

    /// Ends the array. `None` if it has no values.
    pub(crate) fn finish(&mut self) -> Option<&str> {
        if self.number == 0 {
            return None;
        }
        self.json.push(b']');
        // Whatever is no UTF-8 was written as hexadecimal digits.
        str::from_utf8(&self.json).ok()
    }

    fn begin(&mut self) {
        self.json.push(if self.number == 0 { b'[' } else { b',' });
        self.number += 1;
    }

    fn tagged(&mut self, tag: &str, value: &[u8]) {
        self.json.extend_from_slice(b"{\"");
        self.json.extend_from_slice(tag.as_bytes());
        self.json.extend_from_slice(b"\":");
        self.json.extend_from_slice(value);
        self.json.push(b'}');
    }

    fn length(&mut self, tag: &str, length: usize) {
        self.tagged(tag, length.to_string().as_bytes());
    }

    /// Adds a string. One that is not UTF-8 becomes `{"bytes":"…"}` with hexadecimal digits.
    pub(crate) fn string(&mut self, value: &[u8]) {
        self.begin();
        if self.redact {
            return self.length("string", value.len());
        }
        if str::from_utf8(value).is_ok() {
            quote(value, &mut self.json);
        } else {
            self.json.extend_from_slice(b"{\"bytes\":\"");
            self.json.extend(value.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
            self.json.extend_from_slice(b"\"}");
        }
    }

    /// Adds a number: a whole number as a JSON number, any other as its text in `{"number":"…"}`.
    pub(crate) fn number(&mut self, text: &[u8]) {
        self.begin();
        if self.redact {
            self.length("digits", text.len());
        } else if is_plain_integer(text) {
            self.json.extend_from_slice(text);
        } else {
            self.quoted("number", text);
        }
    }

    /// Adds the digits of `X'…'` or `0x…` (`tag` is `hex`), or of `B'…'` or `0b…` (`bits`).
    pub(crate) fn digits(&mut self, tag: &'static str, text: &[u8]) {
        self.begin();
        if self.redact { self.length(tag, text.len()) } else { self.quoted(tag, text) }
    }

    /// Adds a value that must not be kept, not even its length.
    pub(crate) fn secret(&mut self) {
        self.begin();
        self.tagged("secret", b"true");
    }

    pub(crate) fn null(&mut self) {
        self.begin();
        self.json.extend_from_slice(b"null");
    }

    fn quoted(&mut self, tag: &str, text: &[u8]) {
        let mut value = Vec::with_capacity(text.len() + 2);
        quote(String::from_utf8_lossy(text).as_bytes(), &mut value);
        self.tagged(tag, &value);
    }
}

fn digit(nibble: u8) -> u8 {
    b"0123456789abcdef"[usize::from(nibble)]
}

/// Writes a JSON string (RFC 8259, section 7).
fn quote(value: &[u8], json: &mut Vec<u8>) {
    json.push(b'"');
    let mut rest = value;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20)) {
        json.extend_from_slice(&rest[..at]);
        match rest[at] {
            byte @ (b'"' | b'\\') => json.extend_from_slice(&[b'\\', byte]),
            byte => json.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]),
        }
        rest = &rest[at + 1..];
    }
    json.extend_from_slice(rest);
    json.push(b'"');
}

/// Whether a text is a whole number that every JSON reader reads exactly (RFC 8259, section 6: up to 53 bits) and
/// writes in the same way.
fn is_plain_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_plain = digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit);
    is_plain && digits.first().is_some_and(|first| *first != b'0' || text == b"0")
}
