//! Floating point numbers, printed as the server prints them.

use std::ops::RangeInclusive;

/// `decimals` of a column whose numbers have no fixed number of them.
const NOT_FIXED: u8 = 31;

/// Significant digits that a FLOAT is printed with.
const FLOAT_DIGITS: usize = 6;

/// Powers of ten that are printed without an exponent: 0.000000000000001 up to 999999999999999.
const PLAIN_EXPONENTS: RangeInclusive<i32> = -15..=14;

/// Prints a FLOAT.
pub(super) fn print_float(number: f32, decimals: u8) -> String {
    let number = f64::from(number);
    print(number, decimals, &format!("{number:.*e}", FLOAT_DIGITS - 1))
}

/// Prints a DOUBLE, with the fewest digits that give the same number back.
pub(super) fn print_double(number: f64, decimals: u8) -> String {
    print(number, decimals, &format!("{number:e}"))
}

fn print(number: f64, decimals: u8, scientific: &str) -> String {
    if decimals < NOT_FIXED {
        return format!("{number:.*}", usize::from(decimals));
    }
    parse_scientific(scientific).map_or_else(
        || number.to_string(),
        |(sign, digits, exponent)| format!("{sign}{}", place_point(&digits, exponent)),
    )
}

/// Sign, digits without trailing zeros, and exponent of `-d.ddde-7`; `None` for what is not a number.
fn parse_scientific(text: &str) -> Option<(&str, String, i32)> {
    let (mantissa, exponent) = text.split_once('e')?;
    let (sign, mantissa) = mantissa.split_at_checked(usize::from(mantissa.starts_with('-')))?;
    let digits = mantissa.replace('.', "");
    Some((sign, digits.trim_end_matches('0').to_owned(), exponent.parse().ok()?))
}

/// Writes `d.ddd × 10^exponent`, whose digits are given without the point.
fn place_point(digits: &str, exponent: i32) -> String {
    let Some((first, others)) = digits.split_at_checked(1) else { return "0".to_owned() };
    if !PLAIN_EXPONENTS.contains(&exponent) {
        let point = if others.is_empty() { "" } else { "." };
        return format!("{first}{point}{others}e{exponent}");
    }
    match usize::try_from(exponent) {
        Ok(exponent) => match digits.split_at_checked(exponent + 1) {
            Some((whole, "")) => whole.to_owned(),
            Some((whole, fraction)) => format!("{whole}.{fraction}"),
            None => format!("{digits:0<width$}", width = exponent + 1),
        },
        Err(_) => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
    }
}
