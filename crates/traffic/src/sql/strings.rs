//! Strings: where they end, and which text they stand for.

use memchr::{memchr, memchr2};

/// How characters in a string are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Only doubled quotes are escapes.
    Doubled,
    /// Doubled quotes and MySQL's backslashes are escapes.
    Mysql,
    /// Doubled quotes and the backslashes of PostgreSQL's `E'…'` are escapes.
    Postgresql,
}

/// Where a string ends.
pub(super) struct Quoted {
    /// The end of the string's text.
    pub(super) end: usize,
    /// The position after the closing quote.
    pub(super) next: usize,
    /// Whether the text has escapes, so that [`decode`] would change it.
    pub(super) is_escaped: bool,
    /// Whether the string has a closing quote.
    pub(super) is_closed: bool,
}

/// Finds the end of a string whose text begins at `from`.
pub(super) fn quoted(text: &[u8], from: usize, quote: u8, escapes: Escapes) -> Quoted {
    let mut at = from;
    let mut is_escaped = false;
    loop {
        let found = match escapes {
            Escapes::Doubled => memchr(quote, &text[at..]),
            Escapes::Mysql | Escapes::Postgresql => memchr2(quote, b'\\', &text[at..]),
        };
        let Some(found) = found.map(|found| at + found) else {
            return Quoted { end: text.len(), next: text.len(), is_escaped, is_closed: false };
        };
        if text[found] == quote && text.get(found + 1) != Some(&quote) {
            return Quoted { end: found, next: found + 1, is_escaped, is_closed: true };
        }
        is_escaped = true;
        at = (found + 2).min(text.len());
    }
}

/// Writes the text that a string stands for into `into`.
pub(super) fn decode(text: &[u8], quote: u8, escapes: Escapes, into: &mut Vec<u8>) {
    into.clear();
    let mut at = 0;
    while let Some(found) = memchr2(quote, b'\\', &text[at..]) {
        into.extend_from_slice(&text[at..at + found]);
        at += found;
        let escape = text[at];
        if escape == quote || escapes == Escapes::Doubled {
            into.push(escape);
            at += 1 + usize::from(escape == quote);
        } else {
            at += 1 + unescape(&text[at + 1..], escapes, into);
        }
        at = at.min(text.len());
    }
    into.extend_from_slice(&text[at..]);
}

/// Writes the character that a backslash sequence stands for. Returns the length of the sequence, without the
/// backslash.
///
/// Sources: MySQL's manual, "String Literals", and PostgreSQL's manual, "String Constants with C-Style Escapes".
fn unescape(text: &[u8], escapes: Escapes, into: &mut Vec<u8>) -> usize {
    let Some(&first) = text.first() else { return 0 };
    let plain = match (first, escapes) {
        (b'n', _) => b'\n',
        (b't', _) => b'\t',
        (b'r', _) => b'\r',
        (b'b', _) => 8,
        (b'f', Escapes::Postgresql) => 12,
        (b'0', Escapes::Mysql) => 0,
        (b'Z', Escapes::Mysql) => 26,
        // `\%` and `\_` are escapes of LIKE, so the backslash stays in the string.
        (b'%' | b'_', Escapes::Mysql) => {
            into.extend_from_slice(&[b'\\', first]);
            return 1;
        }
        (b'x', Escapes::Postgresql) if text.get(1).is_some_and(u8::is_ascii_hexdigit) => {
            return number(&text[1..], 16, 2, into) + 1;
        }
        (b'u', Escapes::Postgresql) => return character(&text[1..], 4, into) + 1,
        (b'U', Escapes::Postgresql) => return character(&text[1..], 8, into) + 1,
        (b'0'..=b'7', Escapes::Postgresql) => return number(text, 8, 3, into),
        (other, _) => other,
    };
    into.push(plain);
    1
}

fn value(text: &[u8], radix: u32, digits_max: usize) -> Option<(u32, usize)> {
    let digits = text.iter().take(digits_max).map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, length) =
        digits.fold((0_u32, 0), |(value, length), digit| (value * radix + digit, length + 1));
    (length > 0).then_some((value, length))
}

/// Writes the byte that digits stand for. Returns the number of digits.
fn number(text: &[u8], radix: u32, digits_max: usize, into: &mut Vec<u8>) -> usize {
    let Some((value, length)) = value(text, radix, digits_max) else { return 0 };
    into.push(value as u8);
    length
}

/// Writes the character whose code point the digits give. Returns the number of digits.
fn character(text: &[u8], digits: usize, into: &mut Vec<u8>) -> usize {
    match value(text, 16, digits) {
        Some((code, length)) if length == digits => {
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            digits
        }
        _ => 0,
    }
}
