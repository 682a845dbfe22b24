//! Floating point numbers, formatted as the server prints them.

/// Value of `decimals` for a column without a fixed number of decimals.
const NOT_FIXED: u8 = 31;

/// Significant digits of a printed FLOAT.
const FLOAT_DIGITS: usize = 6;

pub(in crate::mysql) fn print_float(number: f32, decimals: u8) -> String {
    let number = f64::from(number);
    if decimals < NOT_FIXED {
        return print_double(number, decimals);
    }
    Decimal::round(number, FLOAT_DIGITS).map_or_else(not_finite, |decimal| decimal.print())
}

/// Formats a DOUBLE. Without a fixed number of decimals, uses the fewest digits that parse to the same number.
pub(in crate::mysql) fn print_double(number: f64, decimals: u8) -> String {
    let Some(shortest) = Decimal::round(number, shortest_digits(number)) else { return not_finite() };
    if decimals < NOT_FIXED {
        let fixed = shortest.print_fixed(usize::from(decimals));
        return fixed.unwrap_or_else(|| format!("{number:.*}", usize::from(decimals)));
    }
    shortest.print()
}

/// Text that servers print for infinity. Only some averages are infinite.
fn not_finite() -> String {
    "0".to_owned()
}

/// Number of digits in the shortest form that parses to the same number.
///
/// Only the number of digits is used, not the digits. Two shortest forms may be equally close to the number. The server
/// then chooses the form whose last digit is even, but Rust may choose the other form.
fn shortest_digits(number: f64) -> usize {
    let scientific = format!("{number:e}");
    let mantissa = scientific.split('e').next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).count()
}

/// A number `±d.ddd × 10^exponent`. It has no trailing zeros; zero has no digits.
struct Decimal {
    sign: &'static str,
    digits: String,
    exponent: i32,
}

impl Decimal {
    /// Rounds to `digits` digits; `None` if the number is not finite.
    fn round(number: f64, digits: usize) -> Option<Self> {
        let scientific = format!("{:.*e}", digits.saturating_sub(1), number.abs());
        let (mantissa, exponent) = scientific.split_once('e')?;
        let digits = mantissa.replace('.', "").trim_end_matches('0').to_owned();
        let sign = if number.is_sign_negative() { "-" } else { "" };
        Some(Self { sign, digits, exponent: exponent.parse().ok()? })
    }

    /// Formats as the server formats a number without fixed decimals. Numbers below 10^-15, and whole numbers from
    /// 10^15 on, are written with an exponent.
    fn print(&self) -> String {
        let Self { sign, digits, exponent } = self;
        let (whole, fraction) = self.parts();
        if *exponent < -15 || (*exponent > 14 && fraction.is_empty()) {
            let (first, others) = digits.split_at_checked(1).unwrap_or_default();
            let point = if others.is_empty() { "" } else { "." };
            return format!("{sign}{first}{point}{others}e{exponent}");
        }
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}")
    }

    /// Formats with all digits, padded with zeros to `decimals` decimals; `None` if the number has more decimals.
    fn print_fixed(&self, decimals: usize) -> Option<String> {
        let (whole, fraction) = self.parts();
        let point = if decimals == 0 { "" } else { "." };
        (fraction.len() <= decimals).then(|| format!("{}{whole}{point}{fraction:0<decimals$}", self.sign))
    }

    /// The digits before and after the decimal point.
    fn parts(&self) -> (String, String) {
        let digits = &self.digits;
        let Ok(whole_digits @ 1..) = usize::try_from(self.exponent + 1) else {
            let zeros = "0".repeat((self.exponent + 1).unsigned_abs() as usize);
            return ("0".to_owned(), zeros + digits);
        };
        match digits.split_at_checked(whole_digits) {
            Some((whole, fraction)) => (whole.to_owned(), fraction.to_owned()),
            None => (format!("{digits:0<whole_digits$}"), String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected texts are the output of `SELECT` on MySQL 5.6.24, 8.0.33 and MariaDB 10.11.
    #[test]
    fn doubles_as_servers_print_them() {
        let cases = [
            (0.0, "0"),
            (-1.5, "-1.5"),
            (100.0, "100"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1.5e15, "1.5e15"),
            (2_601_225_168_969_001.5, "2601225168969001.5"),
            (673_473_472_589_758.3, "673473472589758.2"), // a quarter, which is halfway between .2 and .3
            (12_345_678_901_234_567.0, "1.2345678901234568e16"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (1.234_567_890_123_456_7e-5, "0.000012345678901234568"),
            (-1.7e-308, "-1.7e-308"),
            (f64::MAX, "1.7976931348623157e308"),
        ];
        for (number, expected) in cases {
            assert_eq!(print_double(number, NOT_FIXED), expected);
        }
    }

    #[test]
    fn floats_have_six_digits() {
        for (number, expected) in [(0.1, "0.1"), (1_234_567.0, "1234570"), (9.999_999, "10"), (1e30, "1e30")]
        {
            assert_eq!(print_float(number, NOT_FIXED), expected);
        }
    }

    #[test]
    fn fixed_decimals_are_all_printed() {
        assert_eq!(print_double(1.5, 3), "1.500");
        assert_eq!(print_double(0.0, 0), "0");
        assert_eq!(print_double(-0.0001, 0), "-0");
        assert_eq!(print_double(1e17 / 3.0, 2), "33333333333333332.00");
        assert_eq!(print_float(1234.567, 2), "1234.57");
    }

    #[test]
    fn infinity_is_printed_as_servers_do() {
        assert_eq!(print_double(f64::NEG_INFINITY, NOT_FIXED), "0");
        assert_eq!(print_float(f32::NAN, NOT_FIXED), "0");
    }
}
