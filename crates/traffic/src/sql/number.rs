//! Finds where numbers end.

use super::Dialect;
use super::class::{is_of_word, run};

/// A token that begins with a digit, or with a point and a digit. The value of each variant is the position at
/// which the token ends.
pub(super) enum Numeric {
    /// A number.
    Number(usize),
    /// `0x…`. The digits begin at the token's third byte.
    Hex(usize),
    /// `0b…`. The digits begin at the token's third byte.
    Bits(usize),
    /// A name. In MySQL, names may begin with a digit.
    Word(usize),
}

/// The token that begins at `at`.
pub(super) fn numeric(text: &[u8], at: usize, dialect: Dialect) -> Numeric {
    let digits = |from: usize| run(text, from, |byte| byte.is_ascii_digit() || byte == b'_');
    if text[at] == b'0'
        && let Some(found) = radix(text, at, dialect)
    {
        return found;
    }
    let mut end = digits(at);
    let is_whole = end > at;
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1);
    } else if is_whole && dialect == Dialect::Mysql {
        let word = run(text, end, is_of_word);
        if word > end && exponent(text, end).is_none() {
            return Numeric::Word(word);
        }
    }
    Numeric::Number(exponent(text, end).unwrap_or(end))
}

fn radix(text: &[u8], at: usize, dialect: Dialect) -> Option<Numeric> {
    let end = run(text, (at + 2).min(text.len()), is_of_word);
    let digits = text.get(at + 2..end).filter(|digits| !digits.is_empty())?;
    let all = |wanted: fn(&u8) -> bool| digits.iter().all(wanted);
    match (text[at + 1], dialect) {
        (b'x', _) | (b'X', Dialect::Postgresql) if all(u8::is_ascii_hexdigit) => Some(Numeric::Hex(end)),
        (b'b', _) | (b'B', Dialect::Postgresql) if all(|byte| matches!(byte, b'0' | b'1')) => {
            Some(Numeric::Bits(end))
        }
        _ => None,
    }
}

/// The end of an exponent that begins at `at`. `None` if there is no exponent.
fn exponent(text: &[u8], at: usize) -> Option<usize> {
    text.get(at).filter(|byte| matches!(byte, b'e' | b'E'))?;
    let digits = at + 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
    text.get(digits).filter(|byte| byte.is_ascii_digit())?;
    let end = run(text, digits, |byte| byte.is_ascii_digit());
    // `1e5x` is a name.
    text.get(end).is_none_or(|byte| !is_of_word(*byte)).then_some(end)
}
