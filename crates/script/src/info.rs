//! Declarations of a script.

/// The declarations of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptInfo {
    /// The options that it declares in `sysbench.cmdline.options`, by name.
    pub options: Vec<OptionSpec>,
    /// Whether it declares no options and accepts any, as scripts for sysbench 0.4 and 0.5 do.
    pub any_options: bool,
    /// The commands that it defines, by name: those of `sysbench.cmdline.commands`, and of `prepare`,
    /// `cleanup` and `help` those that it has as functions.
    pub commands: Vec<CommandSpec>,
    /// How it runs.
    pub run: RunBy,
    /// It has an `init` or a `done`.
    pub hooks: bool,
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
    /// It has an `event` function, which is called again and again.
    Events,
    /// It has a `thread_run` of its own, which [`Entry::ThreadRun`](crate::Entry::ThreadRun) starts in place of events.
    OwnLoop,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// Its name, dashes written as underscores.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its default as text; none if it stays unset.
    pub default: Option<String>,
    /// The kind of its values.
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
    /// Texts with commas between them.
    List,
    /// The path of a file.
    File,
}

/// A command that a script defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    pub name: String,
    /// It runs in every task (`sysbench.cmdline.PARALLEL_COMMAND`), not once.
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
