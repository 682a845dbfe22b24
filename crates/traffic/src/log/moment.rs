//! Parses the times in logs into µs since 1970 UTC.

use super::text::whole;

/// A moment, and whether the log gives its time zone. A time without a zone is taken as UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) at_us: i64,
    pub(super) has_zone: bool,
}

const DAY_S: i64 = 86_400;

/// Number of days from 1970-01-01 to a day of the Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms", `days_from_civil`). The year must be from 0 to 9999.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Seconds since 1970 of a date and a time of day. `None` if one of them is out of range.
fn seconds([year, month, day]: [i64; 3], [hour, minute, second]: [i64; 3]) -> Option<i64> {
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    // A minute may have a leap second.
    let is_time = hour < 24 && minute < 60 && second <= 60;
    (is_date && is_time).then(|| days(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second)
}

fn two(text: &[u8], at: usize) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let tens = match *text.get(at)? {
        // MySQL pads the hour with a space.
        b' ' => 0,
        byte => digit(byte)?,
    };
    Some(10 * tens + digit(*text.get(at + 1)?)?)
}

fn time_of_day(text: &[u8]) -> Option<[i64; 3]> {
    let has_colons = text.get(2) == Some(&b':') && text.get(5) == Some(&b':');
    has_colons.then_some([two(text, 0)?, two(text, 3)?, two(text, 6)?])
}

/// Parses `2026-11-27T13:22:21.123456Z` or `…+01:00`, as MySQL writes it, or `2026-11-27 13:22:21.123 UTC`, as
/// PostgreSQL writes it. Also returns the rest of the text.
pub(super) fn iso(text: &[u8]) -> Option<(Moment, &[u8])> {
    let has_marks = text.get(4) == Some(&b'-') && text.get(7) == Some(&b'-');
    if !has_marks || !matches!(text.get(10), Some(b'T' | b' ')) || text[..4].contains(&b' ') {
        return None;
    }
    let date = [100 * two(text, 0)? + two(text, 2)?, two(text, 5)?, two(text, 8)?];
    let seconds = seconds(date, time_of_day(&text[11..])?)?;
    let rest = text.get(19..)?;
    let (fraction_us, rest) = match rest.first() {
        Some(b'.') => fraction(rest),
        _ => (0, rest),
    };
    let (offset_s, has_zone, rest) = zone(rest);
    let at_us = (seconds - offset_s) * 1_000_000 + fraction_us;
    Some((Moment { at_us, has_zone }, rest))
}

/// Parses a fraction such as `.123456` into µs. Also returns the rest of the text.
fn fraction(text: &[u8]) -> (i64, &[u8]) {
    let (mut us, mut unit, mut length) = (0, 100_000, 1);
    for byte in &text[1..] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        us += unit * i64::from(digit);
        unit /= 10;
        length += 1;
    }
    (us, &text[length..])
}

/// Parses a time zone. Returns its offset in seconds, whether the zone is known, and the rest of the text.
fn zone(text: &[u8]) -> (i64, bool, &[u8]) {
    if let Some(rest) = text.strip_prefix(b"Z") {
        return (0, true, rest);
    }
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (sign, digits) = match text.split_first() {
        Some((b'+', rest)) => (1, rest),
        Some((b'-', rest)) => (-1, rest),
        _ => {
            let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let (name, rest) = text.split_at(length);
            return (0, matches!(name, b"UTC" | b"GMT" | b"Z"), rest);
        }
    };
    let Some(hours) = two(digits, 0) else { return (0, false, text) };
    let rest = &digits[2..];
    let behind_colon = rest.strip_prefix(b":").unwrap_or(rest);
    match two(behind_colon, 0) {
        Some(minutes) if behind_colon[0] != b' ' => {
            (sign * (hours * 3600 + minutes * 60), true, &behind_colon[2..])
        }
        _ => (sign * hours * 3600, true, rest),
    }
}

/// Parses `261127 13:22:21`, as MySQL up to 5.6 and MariaDB write it, without a time zone. Also returns the rest of
/// the text.
pub(super) fn short(text: &[u8]) -> Option<(Moment, &[u8])> {
    let (digits, rest) = whole(text)?;
    let rest = rest.strip_prefix(b" ").filter(|_| text.len() - rest.len() == 6)?;
    let digits = digits as i64;
    let date = [2000 + digits / 10_000, digits / 100 % 100, digits % 100];
    let seconds = seconds(date, time_of_day(rest)?)?;
    let rest = &rest[8..];
    let (fraction_us, rest) = match rest.first() {
        Some(b'.') => fraction(rest),
        _ => (0, rest),
    };
    Some((Moment { at_us: seconds * 1_000_000 + fraction_us, has_zone: false }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-27 13:22:21 UTC, as `date -ud '2026-11-27 13:22:21' +%s` prints it.
    const MOMENT_US: i64 = 1_795_785_741_000_000;

    fn at(text: &str) -> Option<(i64, bool, String)> {
        let (moment, rest) = iso(text.as_bytes())?;
        Some((moment.at_us - MOMENT_US, moment.has_zone, String::from_utf8_lossy(rest).into_owned()))
    }

    #[test]
    fn moments_of_every_product_are_read() {
        for (text, us, has_zone, rest) in [
            ("2026-11-27T13:22:21.123456Z\t", 123_456, true, "\t"),
            ("2026-11-27T14:22:21.000001+01:00 x", 1, true, " x"),
            ("2026-11-27 13:22:21.123 UTC [7]", 123_000, true, " [7]"),
            ("2026-11-27 09:52:21 -0330,", 0, true, ","),
            ("2026-11-27 16:22:21.5 +03 12", 500_000, true, " 12"),
            ("2026-11-27 13:22:21.123 CET [7]", 123_000, false, " [7]"),
        ] {
            assert_eq!(at(text), Some((us, has_zone, rest.to_owned())), "{text}");
        }
        let (moment, rest) = short(b"261127 13:22:21\t\t  3 Query").unwrap();
        assert_eq!((moment.at_us - MOMENT_US, moment.has_zone, rest), (0, false, &b"\t\t  3 Query"[..]));
        assert_eq!(short(b"261127  9:22:21").unwrap().0.at_us - MOMENT_US, -4 * 3_600_000_000);
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in
            ["", "2026-13-27T13:22:21Z", "2026-11-27", "2026-11-27T24:00:00Z", "2026/11/27 13:22:21", "x"]
        {
            assert_eq!(at(text), None, "{text}");
            assert!(short(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2024, 2, 29), 19_782);
        assert_eq!(days(1969, 12, 31), -1);
    }
}
