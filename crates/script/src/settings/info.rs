//! Declarations of a script.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptInfo {
    /// The options that the script declares in `sysbench.cmdline.options`, by name.
    pub options: Vec<OptionSpec>,
    /// Whether the script declares no options. It then accepts all options, as scripts for sysbench 0.4 and 0.5 do.
    pub any_options: bool,
    /// The commands that the script defines, by name: those in `sysbench.cmdline.commands`, and the functions named
    /// `prepare`, `cleanup` and `help`.
    pub commands: Vec<CommandSpec>,
    pub run: RunBy,
    /// Whether the script has an `init` or a `done` function.
    pub hooks: bool,
    /// Whether the script sets a hook for reports (`sysbench.hooks.report_intermediate`, `report_cumulative`).
    pub reports: bool,
    /// Whether the script's top level opens a connection. The script's tasks then need a host that answers at once.
    pub connects_at_load: bool,
}

impl ScriptInfo {
    /// Whether the script can be run (command `run`).
    pub fn is_runnable(&self) -> bool {
        self.run != RunBy::Nothing
    }
}

/// How a script runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunBy {
    /// The script cannot be run.
    #[default]
    Nothing,
    /// The script has an `event` function, which is called repeatedly.
    Events,
    /// The script has its own `thread_run`, which [`Entry::ThreadRun`](crate::Entry::ThreadRun) starts instead of
    /// events.
    OwnLoop,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// The name, with dashes written as underscores.
    pub name: String,
    pub description: String,
    /// The default as text, if the option has one.
    pub default: Option<String>,
    pub kind: OptionKind,
}

/// The kind of an option's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `on` or `off`.
    Bool,
    Int,
    /// A whole number with a unit: `64K`, `1G`.
    Size,
    Double,
    String,
    /// Comma-separated texts.
    List,
    File,
}

/// A command that a script defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    pub name: String,
    /// Whether the command runs in every task (`sysbench.cmdline.PARALLEL_COMMAND`) instead of once.
    pub parallel: bool,
}

impl OptionKind {
    /// Describes the values that an option of this kind takes, for error messages.
    pub(crate) fn expectation(self) -> &'static str {
        match self {
            Self::Bool => "on or off",
            Self::Int => "a whole number",
            Self::Size => "a size such as 64K or 1G",
            Self::Double => "a number",
            Self::String => "text",
            Self::List => "texts with commas between them",
            Self::File => "the path of a file",
        }
    }
}
