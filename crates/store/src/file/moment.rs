//! Points in time as text.

use std::time::{Duration, UNIX_EPOCH};

/// The last second that RFC 3339 can express, at the end of the year 9999, in seconds since 1970 UTC.
const LAST_SECOND: u64 = 253_402_300_799;
/// The last millisecond of [`LAST_SECOND`], in milliseconds since 1970 UTC.
pub(crate) const LAST_MS: u64 = LAST_SECOND * 1000 + 999;

/// A point in time as RFC 3339 with whole seconds: `2026-11-23T12:00:00Z`. A time before 1970 or after 9999, which
/// only a damaged file has, becomes the nearest time in that range. All texts have 20 ASCII characters.
pub fn utc_text(unix_ms: i64) -> String {
    let seconds = u64::try_from(unix_ms / 1000).unwrap_or(0).min(LAST_SECOND);
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_moment() {
        for (ms, text) in [
            (1_795_289_000_999, "2026-11-21T19:23:20Z"),
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1970-01-01T00:00:00Z"),
            (i64::MIN, "1970-01-01T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59Z"),
            (253_402_300_800_000, "9999-12-31T23:59:59Z"),
            (i64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc_text(ms), text, "{ms}");
        }
    }
}
