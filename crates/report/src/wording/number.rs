//! Numbers formatted for people.

use dyno_judge::Rule;

/// A number with three significant digits, and commas between thousands: `12,300`, `985`, `9.85`, `0.0123`. Absolute
/// values below 0.00005 are `<0.0001`. Absolute values above 9e15, which a damaged file may have, look like `1.00e300`.
pub(crate) fn three_digits(value: f64) -> String {
    const DECIMALS_MAX: i32 = 4;
    /// Above about this value, an `f64` cannot represent every whole number.
    const WHOLE_MAX: f64 = 9e15;
    if value.abs() > WHOLE_MAX {
        return format!("{value:.2e}");
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() < 0.000_05 {
        return "<0.0001".to_owned();
    }
    let magnitude = magnitude_after_rounding(value);
    if magnitude < 3 {
        return format!("{value:.*}", (2 - magnitude).min(DECIMALS_MAX) as usize);
    }
    let unit = 10_f64.powi(magnitude - 2);
    with_commas(((value / unit).round() * unit) as i64)
}

/// The power of ten of a number's first digit, after rounding to three digits: 2 for 999, 3 for 999.9.
fn magnitude_after_rounding(value: f64) -> i32 {
    let magnitude = value.abs().log10().floor() as i32;
    let unit = 10_f64.powi(magnitude - 2);
    if (value.abs() / unit).round() >= 1000.0 { magnitude + 1 } else { magnitude }
}

/// A whole number with commas: `13,281`.
pub(crate) fn whole(value: f64) -> String {
    with_commas(value.round() as i64)
}

fn with_commas(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// A ratio with two decimals if it is between 0.1 and 10, otherwise with three significant digits.
pub(crate) fn ratio(value: f64) -> String {
    if (0.1..9.995).contains(&value) { format!("{value:.2}") } else { three_digits(value) }
}

/// A multiple with its sign: `×1.29`. A multiple below 0.1 is inverted, so that it is easier to read: `÷51.3`.
pub(crate) fn times(multiple: f64) -> String {
    if multiple > 0.0 && multiple < 0.1 {
        format!("÷{}", ratio(1.0 / multiple))
    } else {
        format!("×{}", ratio(multiple))
    }
}

/// A multiple above 1, or the inverse of a multiple below 1: `×3.90`, `÷3.00`.
pub(crate) fn factor(multiple: f64) -> String {
    if multiple > 0.0 && multiple < 1.0 {
        format!("÷{}", ratio(1.0 / multiple))
    } else {
        format!("×{}", ratio(multiple))
    }
}

/// Whether a ratio equals, within 2%, the quotient of the two figures that a reader sees beside it. The median of
/// the rounds' ratios often differs from the quotient of the medians.
pub(crate) fn is_quotient(base: f64, own: f64, ratio: f64) -> bool {
    const TOLD_FROM: f64 = 0.02;
    (own / base / ratio).ln().abs() < TOLD_FROM
}

/// A count or a size. Whole numbers below a million are exact (`4,096`); others have three digits.
pub(crate) fn amount(value: f64) -> String {
    const EXACT_MAX: f64 = 999_999.0;
    if value.fract() == 0.0 && (1000.0..=EXACT_MAX).contains(&value.abs()) {
        whole(value)
    } else {
        three_digits(value)
    }
}

/// A share as a percentage: `0.4%`, `7.1%`, `68%`, `112%`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

/// A change as a percentage with its sign: `+12%`, `−5.0%`.
pub(crate) fn signed_percent(change: f64) -> String {
    format!("{}{}", if change < 0.0 { "−" } else { "+" }, percent(change.abs()))
}

/// The margin of a rule: `2%`.
pub(crate) fn margin(rule: &Rule) -> String {
    format!("{}%", shortest(rule.margin.relative() * 100.0))
}

/// The confidence of a rule's intervals, rounded down to two decimals: `95%`, `98.43%`.
pub(crate) fn confidence(rule: &Rule) -> String {
    // The addend makes up for rounding errors, so that 95% does not become 94.99%.
    let percent = shortest((rule.confidence() * 1e4 + 1e-6).floor() / 100.0);
    let of_others = if rule.look.is_some() { " (of a test that was left, that of its look)" } else { "" };
    format!("{percent}%{of_others}")
}

/// The value with at most six decimals, without trailing zeros.
pub(crate) fn shortest(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

/// Bytes with a binary unit: `1.50 GiB`.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = value as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// A count with its noun: `1 client`, `4 clients`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// An estimate of how many more rounds a test needs: `about 3 more rounds decide`.
pub(crate) fn rounds_that_decide(rounds: usize) -> String {
    format!(
        "about {} {}",
        counted(rounds as u64, "more round"),
        if rounds == 1 { "decides" } else { "decide" }
    )
}

#[cfg(test)]
mod tests {
    use dyno_stats::Look;

    use super::*;

    #[test]
    fn numbers_of_any_size_have_commas() {
        for (value, text) in [
            (1_234_567.0, "1,234,567"),
            (-999.6, "-1,000"),
            (1e308, "9,223,372,036,854,775,807"),
            (-1e308, "-9,223,372,036,854,775,808"),
        ] {
            assert_eq!(whole(value), text);
        }
    }

    #[test]
    fn a_confidence_is_that_of_the_look_and_not_rounded_up() {
        let rule = |look| Rule { look, ..Rule::default() };
        assert_eq!(confidence(&rule(None)), "95%");
        let look = Look { rounds: 7, alpha: 2.0 / 128.0 };
        assert!(confidence(&rule(Some(look))).starts_with("98.43% (of a test"));
    }

    #[test]
    fn three_digits_at_every_size() {
        let cases = [
            (0.0, "0"),
            (0.000_04, "<0.0001"),
            (0.000_123, "0.0001"),
            (0.012_34, "0.0123"),
            (0.9996, "1.00"),
            (1.234, "1.23"),
            (9.996, "10.0"),
            (98.54, "98.5"),
            (999.4, "999"),
            (999.6, "1,000"),
            (12_345.0, "12,300"),
            (1_234_567.0, "1,230,000"),
            (-12_345.0, "-12,300"),
            (-1e300, "-1.00e300"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(three_digits(value), text, "{value}");
        }
    }

    #[test]
    fn ratios_near_one_have_two_decimals() {
        let cases = [(1.0, "1.00"), (0.714, "0.71"), (9.996, "10.0"), (0.053, "0.0530"), (123.4, "123")];
        for (value, text) in cases {
            assert_eq!(ratio(value), text, "{value}");
        }
    }

    #[test]
    fn multiples_far_below_one_are_turned_around() {
        let cases = [(1.29, "×1.29"), (0.36, "×0.36"), (0.1, "×0.10"), (0.0195, "÷51.3"), (0.0, "×0")];
        for (multiple, text) in cases {
            assert_eq!(times(multiple), text, "{multiple}");
        }
    }

    #[test]
    fn a_ratio_is_told_from_the_quotient_of_what_is_shown() {
        assert!(is_quotient(100.0, 129.0, 1.29) && is_quotient(100.0, 129.0, 1.30));
        assert!(!is_quotient(0.0465, 0.0217, 1.29) && !is_quotient(0.0, 1.0, 1.0));
    }

    #[test]
    fn sizes_are_exact_and_rates_are_not() {
        let cases = [
            (4096.0, "4,096"),
            (65_536.0, "65,536"),
            (4096.5, "4,100"),
            (2e9, "2,000,000,000"),
            (12.0, "12.0"),
        ];
        for (value, text) in cases {
            assert_eq!(amount(value), text, "{value}");
        }
    }

    #[test]
    fn bytes_have_the_unit_that_keeps_them_short() {
        let cases =
            [(0, "0 B"), (999, "999 B"), (1000, "0.977 KiB"), (1 << 20, "1.00 MiB"), (5 << 50, "5,120 TiB")];
        for (value, text) in cases {
            assert_eq!(bytes(value), text, "{value}");
        }
    }

    #[test]
    fn shares_have_two_digits() {
        assert_eq!([0.004, 0.0714, 0.0996, 0.68, 1.12].map(percent), ["0.4%", "7.1%", "10%", "68%", "112%"]);
        assert_eq!([0.12, -0.05].map(signed_percent), ["+12%", "−5.0%"]);
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!((counted(1, "trial"), counted(3, "trial")), ("1 trial".to_owned(), "3 trials".to_owned()));
        assert_eq!(
            [1, 3].map(rounds_that_decide),
            ["about 1 more round decides", "about 3 more rounds decide"]
        );
    }
}
