//! Options on the command line and in help: what their values may be, and how they are shown.

use std::fmt::Write as _;

use crate::rate;

pub(crate) use dyno_script::{OptionDefinition as Definition, ValueKind as Kind};

/// A kind of value with which texts are checked.
pub(crate) trait Checked {
    /// The value of an option that was given none (`--debug`), if there is such a value.
    fn implied(self) -> Option<&'static str>;
    /// What a wrong value should have been; none if it is right.
    fn mismatch(self, value: &str) -> Option<String>;
    /// What stands for the value in help.
    fn placeholder(self) -> &'static str;
}

impl Checked for Kind {
    fn implied(self) -> Option<&'static str> {
        match self {
            Self::Flag => Some("on"),
            Self::Choice(words) if words.contains(&"on") => Some("on"),
            Self::Text | Self::List | Self::File => Some(""),
            _ => None,
        }
    }

    fn mismatch(self, value: &str) -> Option<String> {
        let expected = match self {
            Self::Flag => flag(value).is_none().then_some("on or off"),
            Self::Whole => value.parse::<u64>().is_err().then_some("a whole number"),
            Self::Number => number(value).is_none().then_some("a number"),
            Self::Numbers => {
                numbers(value).is_none().then_some("a number, or several with commas between them")
            }
            Self::Size => size(value).is_none().then_some("a size such as 64K or 1G"),
            Self::Rate => return rate::parse(value).err().map(|error| error.to_string()),
            Self::Choice(words) => {
                return (!words.contains(&value)).then(|| format!("one of {}", words.join(", ")));
            }
            Self::Text | Self::List | Self::File => None,
        };
        expected.map(str::to_owned)
    }

    fn placeholder(self) -> &'static str {
        match self {
            Self::Flag => "[=on|off]",
            Self::Whole | Self::Number => "=N",
            Self::Numbers => "=N[,N...]",
            Self::Size => "=SIZE",
            Self::Rate => "=RATE",
            Self::Choice(_) | Self::Text => "=STRING",
            Self::List => "=[LIST,...]",
            Self::File => "=FILENAME",
        }
    }
}

/// `on` and `off` in all words of sysbench.
pub(crate) fn flag(text: &str) -> Option<bool> {
    match text {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// A number, 0 or more.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

/// Numbers with commas between them; none at all are an empty list.
pub(crate) fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(',').filter(|part| !part.is_empty()).map(|part| number(part.trim())).collect()
}

/// Bytes, with a suffix for a power of 1024.
pub(crate) fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let exponent = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024_u64.pow(exponent))
}

/// One option as help shows it.
pub(crate) struct HelpLine<'a> {
    usage: String,
    help: &'a str,
    default: Option<&'a str>,
}

/// An option of a built-in test, or of all.
impl<'a> From<&'a Definition> for HelpLine<'a> {
    fn from(option: &'a Definition) -> Self {
        Self {
            usage: format!("--{}{}", option.name, option.kind.placeholder()),
            help: option.help,
            default: option.default,
        }
    }
}

/// An option that a script declares.
impl<'a> From<&'a dyno_script::OptionSpec> for HelpLine<'a> {
    fn from(option: &'a dyno_script::OptionSpec) -> Self {
        use dyno_script::OptionKind;
        let kind = match option.kind {
            OptionKind::Bool => Kind::Flag,
            OptionKind::Int | OptionKind::Double => Kind::Number,
            OptionKind::Size => Kind::Size,
            OptionKind::String => Kind::Text,
            OptionKind::List => Kind::List,
            OptionKind::File => Kind::File,
        };
        Self {
            usage: format!("--{}{}", option.name, kind.placeholder()),
            help: &option.description,
            default: option.default.as_deref(),
        }
    }
}

/// Options one below the other, their explanations in a column.
pub(crate) fn help_lines<'a>(options: impl Iterator<Item = HelpLine<'a>>) -> String {
    let options: Vec<_> = options.collect();
    let width = options.iter().map(|option| option.usage.len()).max().unwrap_or(0);
    options.iter().fold(String::new(), |mut lines, HelpLine { usage, help, default }| {
        let default = default.map_or_else(String::new, |default| format!(" [{default}]"));
        let _ = writeln!(lines, "  {usage:width$} {help}{default}");
        lines
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_knows_its_values() {
        let cases: &[(Kind, &[&str], &[&str])] = &[
            (Kind::Flag, &["on", "off", "true", "0"], &["", "maybe", "ON "]),
            (Kind::Whole, &["0", "12"], &["", "-1", "1.5", "1k", "abc"]),
            (Kind::Number, &["0", "0.5", "1e3"], &["", "-1", "nan", "inf", "x"]),
            (Kind::Numbers, &["", "95", "50,99.9"], &["a", "50;99", "-1"]),
            (Kind::Size, &["0", "7", "1K", "2m", "100G", "1T"], &["", "K", "1.5K", "3Q", "99999999999T"]),
            (Kind::Choice(&["mysql", "pgsql"]), &["mysql"], &["", "oracle"]),
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
        assert_eq!(size("100G"), Some(107_374_182_400));
    }

    #[test]
    fn help_has_a_column_and_defaults_in_brackets() {
        let number = Definition { name: "n", kind: Kind::Whole, default: Some("1"), help: "a number" };
        let text = Definition { name: "some-text", kind: Kind::Text, default: None, help: "a text" };
        assert_eq!(
            help_lines([(&number).into(), (&text).into()].into_iter()),
            "  --n=N              a number [1]\n  --some-text=STRING a text\n"
        );
    }
}
