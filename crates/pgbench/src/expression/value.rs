//! The values of expressions, and how they are read and written as text.

/// Significant digits of a double (`DBL_DIG` of C).
const DIGITS: usize = 15;

/// A value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
}

impl Value {
    /// The value that a text stands for; `None` if the text is not a value. Truth values may be abbreviated, such
    /// as `t`.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let word = text.to_ascii_lowercase();
        if word.is_empty() {
            return None;
        }
        if word == "null" {
            return Some(Self::Null);
        }
        if "yes".starts_with(&word) || "true".starts_with(&word) || word == "on" {
            return Some(Self::Bool(true));
        }
        if "no".starts_with(&word) || "false".starts_with(&word) || word.len() > 1 && "off".starts_with(&word)
        {
            return Some(Self::Bool(false));
        }
        let number = text.trim_start();
        if is_whole(number) {
            number.parse().ok().map(Self::Int)
        } else {
            number.parse().ok().map(Self::Double)
        }
    }

    /// The name of the value's type, for messages.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "truth value",
            Self::Int(_) => "integer",
            Self::Double(_) => "double",
        }
    }

    /// Whether a condition with this value is true. A number is true if it is not 0.
    pub(crate) fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Double(value) => value != 0.0,
        }
    }

    /// The value as it is written into SQL.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Double(value) => double_text(value),
        }
    }
}

/// Whether a text is an integer of any size.
pub(crate) fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number with 15 significant digits, as C's `%.15g` writes it.
pub(crate) fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..DIGITS as i32).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    let decimals = (DIGITS as i32 - 1 - exponent) as usize;
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

/// Removes zeros at the end of a fraction.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_for_values() {
        for (text, value) in [
            ("null", Value::Null),
            ("t", Value::Bool(true)),
            ("Yes", Value::Bool(true)),
            ("on", Value::Bool(true)),
            ("of", Value::Bool(false)),
            ("n", Value::Bool(false)),
            ("+3", Value::Int(3)),
            (" -7", Value::Int(-7)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("-10.1", Value::Double(-10.1)),
            ("1e3", Value::Double(1000.0)),
        ] {
            assert_eq!(Value::of_text(text), Some(value), "{text}");
        }
        for wrong in ["", "o", "bla", "trueXXX", "1 ", "9223372036854775808", "1,5", "-"] {
            assert_eq!(Value::of_text(wrong), None, "{wrong}");
        }
    }

    /// The expected texts are those of glibc's `printf("%.15g")`.
    #[test]
    fn doubles_have_fifteen_digits() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (15.0, "15"),
            (-27.0, "-27"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333333"),
            (-0.00032, "-0.00032"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (999_999_999_999_999.9, "1e+15"),
            (8.507_059_173_023_46e37, "8.50705917302346e+37"),
            (1e30, "1e+30"),
            (1e-300, "1e-300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(double_text(number), text);
        }
    }
}
