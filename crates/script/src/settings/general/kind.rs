//! The kinds of values of options, and the texts that each kind accepts.

/// Lua's numbers represent every whole number up to this one exactly.
const WHOLE_MAX: u64 = 1 << 53;

/// The kind of an option's value on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// `on` or `off`; `on` if no value is given.
    Flag,
    /// A whole number, 0 or more.
    Whole,
    /// A whole number from the first to the last.
    Within(u64, u64),
    /// A number, 0 or more.
    Number,
    /// A number from 0 to this number.
    UpTo(u32),
    /// A number above 0 and below 1.
    Fraction,
    /// Comma-separated numbers, each 0 or more.
    Numbers,
    /// Comma-separated percentiles: numbers from 0 to 100.
    Percentiles,
    /// Bytes: a whole number, with K, M, G or T for powers of 1024.
    Size,
    /// Arrivals per second: one number, or several phases.
    Rate,
    /// Seconds, a percentage, `on`, or `off`.
    Patience,
    /// One of these words. If the option is given without a value, its value is `on`, provided that `on` is one of the
    /// words.
    Choice(&'static [&'static str]),
    /// Some of these words, comma-separated, in upper or lower case.
    Words(&'static [&'static str]),
    /// Comma-separated numbers of TCP ports.
    Ports,
    /// Comma-separated errors of MySQL, by number or SQL state; or `all`.
    MysqlErrors,
    /// Comma-separated SQL states; or `all`.
    SqlStates,
    Text,
    /// Comma-separated texts.
    List,
    /// The path of a file.
    File,
}

impl ValueKind {
    /// Describes the expected value if a text is not valid for this kind; `None` if it is valid.
    pub fn mismatch(self, text: &str) -> Option<String> {
        let is_one = match self {
            Self::Flag => parse_flag(text).is_some(),
            Self::Whole => text.parse::<u64>().is_ok(),
            Self::Within(from, to) => text.parse().is_ok_and(|number: u64| (from..=to).contains(&number)),
            Self::Number => parse_number(text).is_some(),
            Self::UpTo(most) => parse_number(text).is_some_and(|number| number <= f64::from(most)),
            Self::Fraction => parse_number(text).is_some_and(|number| number > 0.0 && number < 1.0),
            Self::Numbers => parse_numbers(text).is_some(),
            Self::Percentiles => {
                parse_numbers(text).is_some_and(|numbers| numbers.iter().all(|number| *number <= 100.0))
            }
            Self::Size => parse_size(text).is_some(),
            Self::Patience => is_patience(text),
            Self::Choice(words) => words.contains(&text),
            Self::Words(words) => items(text).all(|item| words.contains(&&*item.to_lowercase())),
            Self::Ports => items(text).all(|item| item.parse::<u16>().is_ok_and(|port| port > 0)),
            Self::MysqlErrors => {
                items(text).all(|item| item == "all" || item.parse::<u16>().is_ok() || is_sql_state(item))
            }
            Self::SqlStates => items(text).all(|item| item == "all" || is_sql_state(item)),
            // A rate is parsed when the load is run. For the other kinds, every text is valid.
            Self::Rate | Self::Text | Self::List | Self::File => true,
        };
        (!is_one).then(|| self.expectation())
    }

    fn expectation(self) -> String {
        match self {
            Self::Flag => "on or off".to_owned(),
            Self::Whole => "a whole number".to_owned(),
            Self::Within(from, u64::MAX) => format!("a whole number from {from} on"),
            Self::Within(from, to) => format!("a whole number from {from} to {to}"),
            Self::Number => "a number".to_owned(),
            Self::UpTo(most) => format!("a number from 0 to {most}"),
            Self::Fraction => "a number above 0 and below 1".to_owned(),
            Self::Numbers => "a number, or several with commas between them".to_owned(),
            Self::Percentiles => "a number up to 100, or several with commas between them".to_owned(),
            Self::Size => "a size such as 64K or 1G".to_owned(),
            Self::Patience => "seconds, a percentage of --time, or 'off'".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Words(words) => format!("some of {}", words.join(", ")),
            Self::Ports => "a port from 1 to 65535, or several with commas between them".to_owned(),
            Self::MysqlErrors => "error numbers or SQL states with commas between them, or 'all'".to_owned(),
            Self::SqlStates => "SQL states with commas between them, or 'all'".to_owned(),
            Self::Rate | Self::Text | Self::List | Self::File => "a text".to_owned(),
        }
    }
}

/// Parses a flag. Accepts every word that sysbench accepts for `on` and `off`.
pub fn parse_flag(text: &str) -> Option<bool> {
    match text {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// Parses a number that is 0 or more.
pub fn parse_number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

/// Parses comma-separated numbers, each 0 or more. An empty text is an empty list.
pub fn parse_numbers(text: &str) -> Option<Vec<f64>> {
    items(text).map(parse_number).collect()
}

/// Parses a size in bytes, with an optional suffix for a power of 1024. The size is at most 2⁵³, so that Lua
/// represents it exactly.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let exponent = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024_u64.pow(exponent)).filter(|bytes| *bytes <= WHOLE_MAX)
}

/// Parses a whole number that Lua's numbers represent exactly.
pub(crate) fn parse_whole(text: &str) -> Option<f64> {
    text.parse::<i64>().ok().filter(|number| number.unsigned_abs() <= WHOLE_MAX).map(|number| number as f64)
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Whether a text is an SQL state: five characters, each a digit or an upper-case letter (ISO/IEC 9075).
fn is_sql_state(text: &str) -> bool {
    text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

fn is_patience(text: &str) -> bool {
    matches!(text, "" | "on" | "off") || text.strip_suffix('%').unwrap_or(text).parse::<u32>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::ValueKind as Kind;
    use super::*;

    #[test]
    fn every_kind_knows_its_values() {
        let cases: &[(Kind, &[&str], &[&str])] = &[
            (Kind::Flag, &["on", "off", "true", "0"], &["", "maybe", "ON "]),
            (
                Kind::Whole,
                &["0", "12", "18446744073709551615"],
                &["", "-1", "1.5", "1k", "abc", "18446744073709551616"],
            ),
            (Kind::Within(1, 5), &["1", "5"], &["0", "6", "-1", "2.0", ""]),
            (Kind::Number, &["0", "0.5", "1e3"], &["", "-1", "nan", "inf", "1e999", "x"]),
            (Kind::UpTo(100), &["0", "100"], &["100.1", "-1", "nan"]),
            (Kind::Fraction, &["0.2", "1e-300"], &["0", "1", "-0.2", "nan", "2"]),
            (Kind::Numbers, &["", "95", "50,99.9"], &["a", "50;99", "-1"]),
            (Kind::Percentiles, &["0", "95,100"], &["101", "95,101", "nan"]),
            (
                Kind::Size,
                &["0", "7", "1K", "2m", "100G", "1T"],
                &["", "K", "1.5K", "3Q", "9000T", "99999999999T"],
            ),
            (Kind::Patience, &["", "off", "0", "7", "10%"], &["x", "-1", "10s", "1.5", "x%"]),
            (Kind::Choice(&["mysql", "pgsql"]), &["mysql"], &["", "oracle"]),
            (Kind::Words(&["zlib", "zstd"]), &["", "zlib", "ZSTD, zlib"], &["lz4", "zlib,lz4"]),
            (Kind::Ports, &["", "3306", "1,65535"], &["0", "65536", "x", "1;2", "-1"]),
            (
                Kind::MysqlErrors,
                &["", "all", "1213,1020", "40001", "HY000"],
                &["abc", "1062,abc", "65536x", "-1"],
            ),
            (Kind::SqlStates, &["all", "40P01, 23505"], &["40p01", "400001", "abc"]),
            (Kind::Text, &["", "anything"], &[]),
        ];
        for (kind, right, wrong) in cases {
            for value in *right {
                assert_eq!(kind.mismatch(value), None, "{kind:?} takes '{value}'");
            }
            for value in *wrong {
                assert!(kind.mismatch(value).is_some(), "{kind:?} does not take '{value}'");
            }
        }
        assert_eq!(parse_size("100G"), Some(107_374_182_400));
        assert_eq!((parse_whole("-7"), parse_whole("9007199254740993")), (Some(-7.0), None));
    }
}
