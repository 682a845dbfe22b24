//! Values of options. The user gives them as text, and they are converted to the declared type.

use crate::error::ScriptError;
use crate::settings::general::{parse_size, parse_whole};
use crate::settings::info::{OptionKind, OptionSpec};

/// A typed value of an option.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<String>),
}

impl OptionSpec {
    /// Parses `text`. Without `text`, parses the default. Without a default, returns sysbench's value for this
    /// kind.
    pub(crate) fn value(&self, text: Option<&str>) -> Result<Value, ScriptError> {
        let Some(text) = text.or(self.default.as_deref()) else {
            return Ok(self.kind.unset());
        };
        self.kind.parse(text).ok_or_else(|| ScriptError::OptionValue {
            option: self.name.clone(),
            value: text.to_owned(),
            kind: self.kind,
        })
    }
}

impl OptionKind {
    /// The value that an option has in sysbench if it has no default and is not given.
    fn unset(self) -> Value {
        match self {
            Self::Bool => Value::Bool(true),
            Self::Int | Self::Size | Self::Double => Value::Number(0.0),
            Self::String => Value::Text(String::new()),
            Self::List => Value::List(Vec::new()),
            Self::File => Value::Nil,
        }
    }

    fn parse(self, text: &str) -> Option<Value> {
        Some(match self {
            Self::Bool => Value::Bool(parse_bool(text)?),
            Self::Int => Value::Number(parse_whole(text.trim())?),
            Self::Size => Value::Number(parse_size(text.trim())? as f64),
            Self::Double => {
                Value::Number(text.trim().parse::<f64>().ok().filter(|number| number.is_finite())?)
            }
            Self::String | Self::File => Value::Text(text.to_owned()),
            Self::List => Value::List(
                text.split(',').filter(|item| !item.is_empty()).map(|item| item.trim().to_owned()).collect(),
            ),
        })
    }
}

/// Parses a word for `on` or `off`. An option that is given without a value is on.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "" | "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_typed_by_their_kind() {
        assert_eq!(OptionKind::Bool.parse("on"), Some(Value::Bool(true)));
        assert_eq!(OptionKind::Bool.parse(""), Some(Value::Bool(true)));
        assert_eq!(OptionKind::Bool.parse("maybe"), None);
        assert_eq!(OptionKind::Int.parse("-7"), Some(Value::Number(-7.0)));
        assert_eq!(OptionKind::Int.parse("5.7"), None);
        assert_eq!(OptionKind::Double.parse("5.7"), Some(Value::Number(5.7)));
        assert_eq!(OptionKind::Double.parse("2K"), None);
        assert_eq!(OptionKind::Size.parse("64K"), Some(Value::Number(65_536.0)));
        assert_eq!(OptionKind::Size.parse("12Q"), None);
        assert_eq!(OptionKind::List.parse("a,b"), Some(Value::List(vec!["a".into(), "b".into()])));
        assert_eq!(OptionKind::List.parse(""), Some(Value::List(Vec::new())));
    }

    #[test]
    fn a_wrong_value_is_named_with_what_would_be_right() {
        let tables = OptionSpec {
            name: "tables".into(),
            description: String::new(),
            default: Some("1".into()),
            kind: OptionKind::Double,
        };
        let error = tables.value(Some("abc")).unwrap_err();
        assert_eq!(error.to_string(), "option --tables takes a number, not 'abc'");
        assert_eq!(tables.value(None).unwrap(), Value::Number(1.0));
    }
}
