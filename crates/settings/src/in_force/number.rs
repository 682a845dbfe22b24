//! Numbers, sizes and times as options and servers write them.

use crate::facts::value::{duration_ms, size};

/// Largest unit by which a server rounds a size, in bytes.
const ROUNDED_TO_MAX_BYTES: f64 = 1_048_576.0;
/// Sizes that were rounded are multiples of it, in bytes.
const ROUNDED_TO_MIN_BYTES: f64 = 1024.0;
/// Least size that is rounded, in bytes.
const ROUNDED_MIN_BYTES: f64 = 16_384.0;
/// Largest share by which rounding changes a size.
const ROUNDED_SHARE_MAX: f64 = 0.05;
/// Share by which two numbers may differ that are the same: servers keep some as fractions.
const SAME_SHARE: f64 = 1e-6;
/// Units of PostgreSQL in which a size without a unit is written, in bytes: 1, 1 kB, a block, 1 MB.
const SIZE_UNITS_BYTES: [f64; 4] = [1.0, 1024.0, 8192.0, 1_048_576.0];
/// Units of PostgreSQL in which a time without a unit is written, in milliseconds: 1 µs, 1 ms, 1 s, 1 min.
const TIME_UNITS_MS: [f64; 4] = [0.001, 1.0, 1000.0, 60_000.0];

/// A number with what it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    /// Without a unit.
    Plain(f64),
    Bytes(f64),
    Milliseconds(f64),
}

/// Parses a number, a size or a time; none if it is neither.
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
    /// Whether a server that was asked for this has it: as another amount, rounded, or off by a share that it may be off by.
    /// A number without a unit is in any unit of the server's.
    pub(super) fn is_had(self, found: Self, off_by: f64) -> bool {
        match (self, found) {
            (Self::Plain(asked), Self::Bytes(found)) => {
                SIZE_UNITS_BYTES.iter().any(|unit| is_near(asked * unit, found, off_by))
            }
            (Self::Plain(asked), Self::Milliseconds(found)) => {
                TIME_UNITS_MS.iter().any(|unit| is_near(asked * unit, found, off_by))
            }
            // Units are written to servers that print none: 1 s to a number of seconds.
            (Self::Milliseconds(asked), Self::Plain(found)) => {
                TIME_UNITS_MS.iter().any(|unit| is_near(asked, found * unit, off_by))
            }
            (Self::Plain(asked) | Self::Bytes(asked), Self::Plain(found) | Self::Bytes(found))
            | (Self::Milliseconds(asked), Self::Milliseconds(found)) => is_near(asked, found, off_by),
            (Self::Bytes(_), Self::Milliseconds(_)) | (Self::Milliseconds(_), Self::Bytes(_)) => false,
        }
    }

    /// Whether it is as much as another amount or more.
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
