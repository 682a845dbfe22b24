//! sysbench's general and database options: declared once, for its command line and for scripts.

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
    /// Name, words joined by dashes.
    pub name: &'static str,
    pub kind: ValueKind,
    /// The default value; `None` if the option then has no value.
    pub default: Option<&'static str>,
    /// Its purpose.
    pub help: &'static str,
}

/// An option that every script and every built-in test has.
#[derive(Clone, Copy, Debug)]
pub struct GeneralOption {
    pub definition: OptionDefinition,
    /// The option for which this is an older name.
    pub older_name_of: Option<&'static str>,
    /// Whether scripts see it as empty, whatever its value.
    pub is_secret: bool,
    /// Whether it changes anything besides the value that scripts see. If not, users of the option get a
    /// warning.
    pub has_effect: bool,
    in_scripts: InScripts,
}

/// An option in `sysbench.opt`, beside the script's own.
#[derive(Clone, Copy, Debug)]
enum InScripts {
    /// By its kind, with its default.
    AsDefined,
    /// With this kind and default, as in sysbench's `sysbench.opt`.
    As(OptionKind, Option<&'static str>),
    /// Present only if it is given, as text.
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

    /// Refuses a value that is not valid for its kind.
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

/// The general option with this name in scripts (underscores).
pub(crate) fn general_option(name: &str) -> Option<&'static GeneralOption> {
    let dashed = name.replace('_', "-");
    table::GROUPS.iter().flat_map(|group| group.options).find(|option| option.definition.name == dashed)
}

/// The general options that scripts see in `sysbench.opt`, as if a script had declared them.
pub(crate) fn general_options() -> impl Iterator<Item = OptionSpec> {
    table::GROUPS.iter().flat_map(|group| group.options).filter_map(GeneralOption::spec)
}
