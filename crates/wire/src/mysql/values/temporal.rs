//! Dates and times in binary format, formatted as the server prints them.

use crate::mysql::framing::reader::Reader;

/// Digits of microseconds, which is the largest precision of a column.
const MICROSECOND_DIGITS: usize = 6;

/// Formats as `2026-11-21`. `parts` may also contain a time of day, which is ignored.
pub(in crate::mysql) fn print_date(parts: &[u8]) -> Option<String> {
    if !matches!(parts.len(), 0 | 4 | 7 | 11) {
        return None;
    }
    let mut parts = Reader::new(parts);
    let year = parts.u16().unwrap_or(0);
    let month = parts.u8().unwrap_or(0);
    let day = parts.u8().unwrap_or(0);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// Formats as `2026-11-21 08:30:00.25`, with `decimals` decimals.
pub(in crate::mysql) fn print_datetime(parts: &[u8], decimals: u8) -> Option<String> {
    let date = print_date(parts)?;
    let clock = Clock::read(&mut Reader::new(parts.get(4..).unwrap_or_default()));
    Some(format!(
        "{date} {:02}:{:02}:{:02}{}",
        clock.hours,
        clock.minutes,
        clock.seconds,
        clock.fraction(decimals)
    ))
}

/// Formats as `-838:59:59`, with `decimals` decimals.
pub(in crate::mysql) fn print_time(parts: &[u8], decimals: u8) -> Option<String> {
    if !matches!(parts.len(), 0 | 8 | 12) {
        return None;
    }
    let mut parts = Reader::new(parts);
    let sign = if parts.u8().unwrap_or(0) == 0 { "" } else { "-" };
    let days = parts.u32().unwrap_or(0);
    let clock = Clock::read(&mut parts);
    let hours = u64::from(days) * 24 + u64::from(clock.hours);
    Some(format!("{sign}{hours:02}:{:02}:{:02}{}", clock.minutes, clock.seconds, clock.fraction(decimals)))
}

struct Clock {
    hours: u8,
    minutes: u8,
    seconds: u8,
    microseconds: u32,
}

impl Clock {
    /// Reads the parts that are present; the others are zero.
    fn read(parts: &mut Reader<'_>) -> Self {
        Self {
            hours: parts.u8().unwrap_or(0),
            minutes: parts.u8().unwrap_or(0),
            seconds: parts.u8().unwrap_or(0),
            microseconds: parts.u32().unwrap_or(0),
        }
    }

    /// The decimal point and the digits after it. If the number of digits is not fixed, a fraction has six digits,
    /// and a fraction of zero is left out.
    fn fraction(&self, decimals: u8) -> String {
        let digits = match usize::from(decimals) {
            fixed @ 0..=MICROSECOND_DIGITS => fixed,
            _ if self.microseconds == 0 => 0,
            _ => MICROSECOND_DIGITS,
        };
        match format!("{:06}", self.microseconds).get(..digits) {
            Some("") | None => String::new(),
            Some(fraction) => format!(".{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(print_date(&[]).unwrap(), "0000-00-00");
        assert_eq!(print_date(&[0xEA, 0x07, 11, 21]).unwrap(), "2026-11-21");
        assert_eq!(print_date(&[0xEA, 0x07, 11]), None);
    }

    #[test]
    fn datetimes_of_every_length() {
        assert_eq!(print_datetime(&[], 0).unwrap(), "0000-00-00 00:00:00");
        assert_eq!(print_datetime(&[], 3).unwrap(), "0000-00-00 00:00:00.000");
        assert_eq!(print_datetime(&[0xEA, 0x07, 1, 2], 0).unwrap(), "2026-01-02 00:00:00");
        assert_eq!(print_datetime(&[0xEA, 0x07, 1, 2, 3, 4, 5], 0).unwrap(), "2026-01-02 03:04:05");
        let with_fraction = [0xEA, 0x07, 1, 2, 3, 4, 5, 0x40, 0xE2, 0x01, 0x00];
        assert_eq!(print_datetime(&with_fraction, 2).unwrap(), "2026-01-02 03:04:05.12");
        assert_eq!(print_datetime(&with_fraction, 31).unwrap(), "2026-01-02 03:04:05.123456");
        assert_eq!(print_datetime(&with_fraction[..8], 0), None);
    }

    #[test]
    fn times_beyond_a_day_and_below_zero() {
        assert_eq!(print_time(&[], 0).unwrap(), "00:00:00");
        assert_eq!(print_time(&[1, 34, 0, 0, 0, 22, 59, 59], 0).unwrap(), "-838:59:59");
        let with_fraction = [0, 0, 0, 0, 0, 1, 2, 3, 0x20, 0xA1, 0x07, 0x00];
        assert_eq!(print_time(&with_fraction, 6).unwrap(), "01:02:03.500000");
        assert_eq!(print_time(&[0; 9], 0), None);
    }
}
