//! The values of a statement, as a JSON array.

/// Writes the values of a statement into a JSON array, one after another.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    json: String,
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

    /// Ends the array and returns it. `None` if there are no values.
    pub(crate) fn finish(&mut self) -> Option<&str> {
        if self.number == 0 {
            return None;
        }
        self.json.push(']');
        Some(&self.json)
    }

    fn begin(&mut self) {
        self.json.push(if self.number == 0 { '[' } else { ',' });
        self.number += 1;
    }

    fn tagged(&mut self, tag: &str, value: &str) {
        for part in ["{\"", tag, "\":", value, "}"] {
            self.json.push_str(part);
        }
    }

    fn length(&mut self, tag: &str, length: usize) {
        self.tagged(tag, &length.to_string());
    }

    /// Adds a string. A string that is not UTF-8 becomes `{"bytes":"…"}` with hexadecimal digits.
    pub(crate) fn string(&mut self, value: &[u8]) {
        self.begin();
        if self.redact {
            return self.length("string", value.len());
        }
        if let Ok(text) = str::from_utf8(value) {
            quote(text, &mut self.json);
        } else {
            self.json.push_str("{\"bytes\":\"");
            self.json.extend(value.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
            self.json.push_str("\"}");
        }
    }

    /// Adds a number. A whole number becomes a JSON number. Any other number becomes its text in `{"number":"…"}`.
    pub(crate) fn number(&mut self, text: &[u8]) {
        self.begin();
        if self.redact {
            self.length("digits", text.len());
        } else if let Some(integer) = plain_integer(text) {
            self.json.push_str(integer);
        } else {
            self.quoted("number", text);
        }
    }

    /// Adds digits. The tag is `hex` for `X'…'` and `0x…`, and `bits` for `B'…'` and `0b…`.
    pub(crate) fn digits(&mut self, tag: &'static str, text: &[u8]) {
        self.begin();
        if self.redact { self.length(tag, text.len()) } else { self.quoted(tag, text) }
    }

    /// Adds a value of which nothing may be kept, not even its length.
    pub(crate) fn secret(&mut self) {
        self.begin();
        self.tagged("secret", "true");
    }

    pub(crate) fn null(&mut self) {
        self.begin();
        self.json.push_str("null");
    }

    fn quoted(&mut self, tag: &str, text: &[u8]) {
        let mut value = String::with_capacity(text.len() + 2);
        quote(&String::from_utf8_lossy(text), &mut value);
        self.tagged(tag, &value);
    }
}

fn digit(nibble: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(nibble)])
}

/// Writes a JSON string (RFC 8259, section 7).
fn quote(value: &str, json: &mut String) {
    json.push('"');
    let mut rest = value;
    // All bytes that are searched for are ASCII, so the text is cut between characters.
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20)) {
        json.push_str(&rest[..at]);
        json.push('\\');
        match rest.as_bytes()[at] {
            byte @ (b'"' | b'\\') => json.push(char::from(byte)),
            byte => {
                json.push_str("u00");
                json.extend([digit(byte >> 4), digit(byte & 15)]);
            }
        }
        rest = &rest[at + 1..];
    }
    json.push_str(rest);
    json.push('"');
}

/// Returns the text if it is a whole number that every JSON reader reads exactly (RFC 8259, section 6: up to 53 bits)
/// and writes in the same form. `None` for other texts.
fn plain_integer(text: &[u8]) -> Option<&str> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_plain = digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit);
    let is_as_written = digits.first().is_some_and(|first| *first != b'0' || text == b"0");
    str::from_utf8(text).ok().filter(|_| is_plain && is_as_written)
}
