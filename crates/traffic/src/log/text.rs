//! Small parsers for parts of log lines.

/// Returns the text up to a separator, and the rest after the separator.
pub(super) fn split_once<'a>(text: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memchr::memmem::find(text, separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}

/// Parses a whole number. Also returns the rest of the text. `None` if there is no digit, or if the number is too
/// large.
pub(super) fn whole(text: &[u8]) -> Option<(u64, &[u8])> {
    let (value, length) = digits(text)?;
    (length > 0).then_some((value, &text[length..]))
}

/// Parses the digits at the beginning of a text. Returns their value and the number of digits. `None` if the value
/// is too large.
fn digits(text: &[u8]) -> Option<(u64, usize)> {
    /// A number with this many digits always fits.
    const SAFE: usize = 19;
    let (mut value, mut length) = (0_u64, 0);
    for byte in text.iter().take(SAFE) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Some((value, length));
        }
        value = 10 * value + u64::from(digit);
        length += 1;
    }
    for byte in text.iter().skip(SAFE).take_while(|byte| byte.is_ascii_digit()) {
        value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
        length += 1;
    }
    Some((value, length))
}

/// Parses a text that consists of a whole number only.
pub(super) fn only_whole(text: &[u8]) -> Option<u64> {
    whole(text).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}

/// Parses a decimal number, and multiplies it by 10 to the power of `places`. Further digits are cut off. Also
/// returns the rest of the text.
pub(super) fn decimal(text: &[u8], places: u32) -> Option<(u64, &[u8])> {
    let (whole_part, rest) = whole(text)?;
    let mut value = whole_part.checked_mul(10_u64.checked_pow(places)?)?;
    let Some(fraction) = rest.strip_prefix(b".") else { return Some((value, rest)) };
    let mut unit = 10_u64.checked_pow(places)?;
    let mut length = 0;
    for byte in fraction {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        unit /= 10;
        value = value.checked_add(unit * u64::from(digit))?;
        length += 1;
    }
    Some((value, &fraction[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_places() {
        assert_eq!(decimal(b"1.000321 s", 6), Some((1_000_321, &b" s"[..])));
        assert_eq!(decimal(b"0.05", 3), Some((50, &b""[..])));
        assert_eq!(decimal(b"7", 6), Some((7_000_000, &b""[..])));
        assert_eq!(decimal(b"0.1234567899", 6), Some((123_456, &b""[..])));
        assert_eq!(decimal(b".5", 6), None);
        assert_eq!(decimal(b"99999999999999999999", 6), None);
        assert_eq!(whole(b"18446744073709551615x"), Some((u64::MAX, &b"x"[..])));
        assert_eq!(whole(b"18446744073709551616"), None);
    }

    #[test]
    fn a_number_alone_is_followed_by_nothing() {
        assert_eq!(only_whole(b"42"), Some(42));
        assert_eq!(only_whole(b"42 "), None);
        assert_eq!(only_whole(b""), None);
    }
}
