//! Options on the command line and in help: their permitted values, and how they are shown.

use std::fmt::Write as _;

use crate::options::rate;

pub(crate) use dyno_script::{OptionDefinition as Definition, ValueKind as Kind};

/// A kind of value that can check texts.
pub(crate) trait Checked {
    /// The value of an option that was given without a value (`--debug`), if there is one.
    fn implied(self) -> Option<&'static str>;
    /// Describes the expected value if `value` is wrong. `None` if `value` is right.
    fn wrong(self, value: &str) -> Option<String>;
    /// The placeholder for the value in help.
    fn placeholder(self) -> &'static str;
}

impl Checked for Kind {
    fn implied(self) -> Option<&'static str> {
        match self {
            Self::Flag => Some("on"),
            Self::Choice(words) if words.contains(&"on") => Some("on"),
            Self::Patience
            | Self::Text
            | Self::Words(_)
            | Self::List
            | Self::File
            | Self::Ports
            | Self::MysqlErrors
            | Self::SqlStates => Some(""),
            _ => None,
        }
    }

    fn wrong(self, value: &str) -> Option<String> {
        match self {
            Self::Rate => rate::parse(value).err().map(|error| error.to_string()),
            kind => kind.mismatch(value),
        }
    }

    fn placeholder(self) -> &'static str {
        match self {
            Self::Flag => "[=on|off]",
            Self::Whole | Self::Within(..) | Self::Number | Self::UpTo(_) | Self::Fraction | Self::Rate => {
                "=N"
            }
            Self::Size => "=SIZE",
            Self::Patience | Self::Choice(_) | Self::Text => "=STRING",
            Self::Numbers
            | Self::Percentiles
            | Self::Words(_)
            | Self::Ports
            | Self::MysqlErrors
            | Self::SqlStates
            | Self::List => "=[LIST,...]",
            Self::File => "=FILENAME",
        }
    }
}

/// One option as help shows it.
pub(crate) struct HelpLine<'a> {
    usage: String,
    help: &'a str,
    default: Option<&'a str>,
}

/// An option of a built-in test, or an option common to all tests.
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

/// Largest width of the column of options in help, in bytes. The explanation of a longer option is not aligned.
const USAGE_LETTERS: usize = 120;

/// Options below each other, with their explanations in a column.
pub(crate) fn help_lines<'a>(options: impl Iterator<Item = HelpLine<'a>>) -> String {
    let options: Vec<_> = options.collect();
    let width = options.iter().map(|option| option.usage.len()).max().unwrap_or(0).min(USAGE_LETTERS);
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
    fn help_has_a_column_and_defaults_in_brackets() {
        let number = Definition { name: "n", kind: Kind::Whole, default: Some("1"), help: "a number" };
        let text = Definition { name: "some-text", kind: Kind::Text, default: None, help: "a text" };
        assert_eq!(
            help_lines([(&number).into(), (&text).into()].into_iter()),
            "  --n=N              a number [1]\n  --some-text=STRING a text\n"
        );
    }
}
