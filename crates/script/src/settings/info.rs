//! Declarations of a script.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptInfo {
    /// The options that it declares in `sysbench.cmdline.options`, by name.
    pub options: Vec<OptionSpec>,
    /// Whether it declares no options and accepts all, as scripts for sysbench 0.4 and 0.5 do.
    pub any_options: bool,
    /// The commands that it defines, by name: those in `sysbench.cmdline.commands`, and its functions named `prepare`,
    /// `cleanup` and `help`.
    pub commands: Vec<CommandSpec>,
    pub run: RunBy,
    /// Whether it has an `init` or a `done` function.
    pub hooks: bool,
    /// Whether it sets a hook that reports (`sysbench.hooks.report_intermediate`, `report_cumulative`).
    pub reports: bool,
    /// Whether its top level opens a connection. Its tasks then need a host that answers at once.
    pub connects_at_load: bool,
}

impl ScriptInfo {
    /// Whether it can be `run`.
    pub fn is_runnable(&self) -> bool {
        self.run != RunBy::Nothing
    }
}

/// How a script runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunBy {
    /// It cannot be run.
    #[default]
    Nothing,
    /// It has an `event` function, which is called repeatedly.
    Events,
    /// It has its own `thread_run`, which [`Entry::ThreadRun`](crate::Entry::ThreadRun) starts instead of events.
    OwnLoop,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// Its name, with dashes written as underscores.
    pub name: String,
    pub description: String,
    /// Its default as text, if it has one.
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
    /// Whether it runs in every task (`sysbench.cmdline.PARALLEL_COMMAND`) instead of once.
    pub parallel: bool,
}

impl OptionKind {
    /// The expected value, for messages.
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
