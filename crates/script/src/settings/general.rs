//! sysbench's general and database options. They are declared once, for the command line and for scripts.

mod kind;
mod table;

pub(crate) use kind::parse_size;
pub(crate) use kind::parse_whole;
pub use kind::{ValueKind, parse_flag, parse_number, parse_numbers};

use crate::error::ScriptError;
use crate::settings::info::{OptionKind, OptionSpec};

/// An option's definition: name, kind of value, default, purpose.
#[derive(Clone, Copy, Debug)]
pub struct OptionDefinition {
    /// The name, which consists of words joined by dashes.
    pub name: &'static str,
    pub kind: ValueKind,
    /// The default value. `None` if the option has no value until it is given.
    pub default: Option<&'static str>,
    /// What the option is for.
    pub help: &'static str,
}

/// An option that every script and every built-in test has.
#[derive(Clone, Copy, Debug)]
pub struct GeneralOption {
    pub definition: OptionDefinition,
    /// The newer name of the same option, if this is an older name.
    pub older_name_of: Option<&'static str>,
    /// Whether scripts see an empty value, whatever the value is.
    pub is_secret: bool,
    /// Whether the option changes anything besides the value that scripts see. If it does not, users of the option
    /// get a warning.
    pub has_effect: bool,
    in_scripts: InScripts,
}

/// How an option appears in `sysbench.opt`, which also contains the script's own options.
#[derive(Clone, Copy, Debug)]
enum InScripts {
    /// The option appears with the kind and the default of its definition.
    AsDefined,
    /// The option appears with this kind and default, as in sysbench's `sysbench.opt`.
    As(OptionKind, Option<&'static str>),
    /// The option appears as text, and only if it is given.
    IfGiven,
}

/// Options that belong together.
#[derive(Clone, Copy, Debug)]
pub struct OptionGroup {
    pub title: &'static str,
    pub options: &'static [GeneralOption],
}

/// Every group, in the order of `--help`.
pub fn general_groups() -> &'static [OptionGroup] {
    table::GROUPS
}

const fn option(
    name: &'static str,
    kind: ValueKind,
    default: Option<&'static str>,
    help: &'static str,
) -> GeneralOption {
    GeneralOption {
        definition: OptionDefinition { name, kind, default, help },
        older_name_of: None,
        is_secret: false,
        has_effect: true,
        in_scripts: InScripts::AsDefined,
    }
}

impl GeneralOption {
    const fn older_name_of(self, name: &'static str) -> Self {
        Self { older_name_of: Some(name), ..self }
    }

    const fn without_effect(self) -> Self {
        Self { has_effect: false, ..self }
    }

    const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    const fn in_scripts(self, kind: OptionKind, default: Option<&'static str>) -> Self {
        Self { in_scripts: InScripts::As(kind, default), ..self }
    }

    const fn if_given(self) -> Self {
        Self { in_scripts: InScripts::IfGiven, ..self }
    }

    /// Returns an error if a value is not valid for the option's kind.
    pub(crate) fn check(&self, value: &str) -> Result<(), ScriptError> {
        let definition = &self.definition;
        definition.kind.mismatch(value).map_or(Ok(()), |expected| {
            let (option, value) = (definition.name.to_owned(), value.to_owned());
            Err(ScriptError::GeneralOption { option, value, expected })
        })
    }

    /// The option as if a script had declared it.
    fn spec(&self) -> Option<OptionSpec> {
        let (kind, default) = match self.in_scripts {
            InScripts::AsDefined => (self.definition.kind.in_scripts(), self.definition.default),
            InScripts::As(kind, default) => (kind, default),
            InScripts::IfGiven => return None,
        };
        Some(OptionSpec {
            name: self.definition.name.replace('-', "_"),
            description: String::new(),
            default: default.map(str::to_owned),
            kind,
        })
    }
}

impl ValueKind {
    fn in_scripts(self) -> OptionKind {
        match self {
            Self::Flag => OptionKind::Bool,
            Self::Whole | Self::Within(..) => OptionKind::Int,
            Self::Number | Self::UpTo(_) | Self::Fraction | Self::Rate => OptionKind::Double,
            Self::Size => OptionKind::Size,
            Self::Numbers
            | Self::Percentiles
            | Self::Ports
            | Self::MysqlErrors
            | Self::SqlStates
            | Self::List => OptionKind::List,
            Self::Choice(_) | Self::Words(_) | Self::Patience | Self::Text => OptionKind::String,
            Self::File => OptionKind::File,
        }
    }
}

/// The general option with this name, which is written with underscores, as in scripts.
pub(crate) fn general_option(name: &str) -> Option<&'static GeneralOption> {
    let dashed = name.replace('_', "-");
    table::GROUPS.iter().flat_map(|group| group.options).find(|option| option.definition.name == dashed)
}

/// The general options that scripts see in `sysbench.opt`, as if a script had declared them.
pub(crate) fn general_options() -> impl Iterator<Item = OptionSpec> {
    table::GROUPS.iter().flat_map(|group| group.options).filter_map(GeneralOption::spec)
}
