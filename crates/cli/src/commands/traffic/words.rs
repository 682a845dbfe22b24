//! Formats amounts as text.

use std::fmt::Display;

/// A number with its noun: `1 session`, `3 sessions`. `shown` is the formatted number.
pub(super) fn plural(shown: impl Display, number: u64, noun: &str) -> String {
    format!("{shown} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A time in a suitable unit.
pub(super) fn time(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.0} µs"),
        us if us < 1e4 => format!("{:.2} ms", us / 1e3),
        us if us < 1e6 => format!("{:.0} ms", us / 1e3),
        us if us < 1e8 => format!("{:.2} s", us / 1e6),
        us => format!("{:.0} s", us / 1e6),
    }
}

/// Seconds as `3 h 5 min 7 s`, without leading units that are 0.
pub(super) fn duration(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, minutes) => format!("{minutes} min {rest} s"),
        (hours, minutes) => format!("{hours} h {minutes} min {rest} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let texts = [7.0, 1234.0, 12_345.0, 2_500_000.0, 250_000_000.0].map(time);
        assert_eq!(texts, ["7 µs", "1.23 ms", "12 ms", "2.50 s", "250 s"]);
        assert_eq!([7, 67, 3667].map(duration), ["7 s", "1 min 7 s", "1 h 1 min 7 s"]);
    }
}
