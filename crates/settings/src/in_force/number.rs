//! Numbers, sizes and times in the forms of options and servers.

use crate::facts::value::{duration_ms, size};

/// Largest unit to which a server rounds a size, in bytes.
const ROUNDED_TO_MAX_BYTES: f64 = 1_048_576.0;
/// A rounded size is a multiple of this number of bytes.
const ROUNDED_TO_MIN_BYTES: f64 = 1024.0;
/// Smallest size that is rounded, in bytes.
const ROUNDED_MIN_BYTES: f64 = 16_384.0;
/// Rounding changes a size by at most this share of the size.
const ROUNDED_SHARE_MAX: f64 = 0.05;
/// Two numbers count as equal if their relative difference is at most this. Servers store some numbers as
/// fractions.
const SAME_SHARE: f64 = 1e-6;
/// PostgreSQL's units of sizes that are written without a unit, in bytes: 1, 1 kB, a block, 1 MB.
const SIZE_UNITS_BYTES: [f64; 4] = [1.0, 1024.0, 8192.0, 1_048_576.0];
/// PostgreSQL's units of times that are written without a unit, in milliseconds: 1 µs, 1 ms, 1 s, 1 min.
const TIME_UNITS_MS: [f64; 4] = [0.001, 1.0, 1000.0, 60_000.0];

/// A number with its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    /// A number without a unit.
    Plain(f64),
    Bytes(f64),
    Milliseconds(f64),
}

/// Parses a number, a size or a time; `None` if it is none of these.
pub(super) fn amount(text: &str) -> Option<Amount> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(milliseconds) = duration_ms(&text) {
        return Some(Amount::Milliseconds(milliseconds));
    }
    let number = size(&text)?;
    let is_plain = text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    Some(if is_plain { Amount::Plain(number) } else { Amount::Bytes(number) })
}

impl Amount {
    /// Returns whether the amount that the server reports (`found`) stands for the requested amount (`self`). The
    /// reported amount may be in another unit, rounded, or different by the share `off_by`. A number without a unit
    /// may be in any of the server's units.
    pub(super) fn is_had(self, found: Self, off_by: f64) -> bool {
        match (self, found) {
            (Self::Plain(asked), Self::Bytes(found)) => {
                SIZE_UNITS_BYTES.iter().any(|unit| is_near(asked * unit, found, off_by))
            }
            (Self::Plain(asked), Self::Milliseconds(found)) => {
                TIME_UNITS_MS.iter().any(|unit| is_near(asked * unit, found, off_by))
            }
            // A plan may give a time with a unit to a server that reports the time without a unit. For example, the
            // server reports 1 s as a number of seconds.
            (Self::Milliseconds(asked), Self::Plain(found)) => {
                TIME_UNITS_MS.iter().any(|unit| is_near(asked, found * unit, off_by))
            }
            (Self::Plain(asked) | Self::Bytes(asked), Self::Plain(found) | Self::Bytes(found))
            | (Self::Milliseconds(asked), Self::Milliseconds(found)) => is_near(asked, found, off_by),
            (Self::Bytes(_), Self::Milliseconds(_)) | (Self::Milliseconds(_), Self::Bytes(_)) => false,
        }
    }

    /// Whether the amount is at least another amount.
    pub(super) fn is_at_least(self, other: Self) -> bool {
        match (self, other) {
            (Self::Plain(a) | Self::Bytes(a), Self::Plain(b) | Self::Bytes(b))
            | (Self::Milliseconds(a), Self::Milliseconds(b)) => a >= b,
            _ => false,
        }
    }
}

fn is_near(asked: f64, found: f64, off_by: f64) -> bool {
    let apart = (asked - found).abs();
    let is_rounded = asked >= ROUNDED_MIN_BYTES
        && found % ROUNDED_TO_MIN_BYTES == 0.0
        && apart < ROUNDED_TO_MAX_BYTES
        && apart <= asked * ROUNDED_SHARE_MAX;
    apart <= asked.abs() * off_by.max(SAME_SHARE) || is_rounded
}
