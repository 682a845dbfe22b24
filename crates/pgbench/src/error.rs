//! The errors of scripts: mistakes that are found when a script is read, and failures when it runs.

use thiserror::Error;

/// A mistake in a script, and where it is.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct Mistake {
    pub file: String,
    /// Line number. The first line is 1.
    pub line: u32,
    /// Column, counted in characters. The first column is 1.
    pub column: u32,
    pub problem: Problem,
}

/// What is wrong with a script.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    #[error("the script has no command")]
    Empty,
    #[error("the weights of all scripts are 0, so none would run")]
    NoWeight,
    #[error("pgbench has no command \\{name}{hint}")]
    UnknownCommand { name: String, hint: String },
    #[error("\\{0} runs a program on this machine, for which it needs the option allow_shell")]
    Shell(&'static str),
    #[error(
        "\\startpipeline sends statements without their text, so it needs --protocol=extended or prepared"
    )]
    PipelineProtocol,
    #[error("\\startpipeline needs PostgreSQL, whose protocol has pipelines")]
    PipelineDatabase,
    #[error("this \\startpipeline has no \\endpipeline")]
    NoEndpipeline,
    #[error("\\{0} has no \\startpipeline before it")]
    NoStartpipeline(&'static str),
    #[error("\\{command} lacks its {missing}; write {usage}")]
    MissingArgument { command: &'static str, missing: &'static str, usage: &'static str },
    #[error("\\{command} takes no further argument '{argument}'; write {usage}")]
    SurplusArgument { command: &'static str, argument: String, usage: &'static str },
    #[error(
        "'{0}' cannot be the name of a variable: a name has letters, digits and _, and does not begin with a digit"
    )]
    VariableName(String),
    #[error("{found} is not expected here, but {expected}")]
    Syntax { found: String, expected: &'static str },
    #[error("there is no function {name}{hint}")]
    UnknownFunction { name: String, hint: String },
    #[error("{function} takes {expected}, not {given}")]
    ArgumentCount { function: &'static str, expected: &'static str, given: usize },
    #[error("{0} is too large for a number of 64 bits")]
    TooLarge(String),
    #[error("the expression is too long or nested too deeply; compute a part of it with \\set before")]
    TooComplex,
    #[error("\\{0} must follow a statement of SQL, without a semicolon")]
    NoStatement(&'static str),
    #[error("{0} begins here and has no end")]
    Unclosed(&'static str),
    #[error("\\{0} has no \\if before it")]
    NoIf(&'static str),
    #[error("\\{0} follows \\else; only \\endif can")]
    AfterElse(&'static str),
    #[error("this \\if has no \\endif")]
    NoEndif,
    #[error("'{0}' is not a time: write a whole number or a variable, then us, ms or s")]
    SleepTime(String),
    #[error("'{0}' is not a unit of time: us, ms or s")]
    SleepUnit(String),
    #[error("a statement has {given} variables; with --protocol=extended or prepared it may have {max}")]
    TooManyParameters { given: usize, max: usize },
}

/// A command of a script that failed.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{file}:{line}: {error}")]
pub struct RunError {
    pub file: String,
    /// Line number. The first line is 1.
    pub line: u32,
    pub error: EvaluationError,
}

/// Why an expression has no value, or a result cannot be stored.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum EvaluationError {
    #[error("the variable {0} is not set")]
    Undefined(String),
    #[error("the variable {name} is '{value}', not a number or a truth value")]
    Malformed { name: String, value: String },
    #[error("the variable {name} is '{value}', which is not a time to sleep")]
    SleepTime { name: String, value: String },
    #[error("division by zero")]
    DivisionByZero,
    #[error("the result of {0} needs more than 64 bits")]
    OutOfRange(&'static str),
    #[error("a {from} cannot be used as {to}")]
    Coercion { from: &'static str, to: &'static str },
    #[error("{0} is too large for an integer of 64 bits")]
    DoubleTooLarge(f64),
    #[error("random numbers from {low} to {high}: the range is empty")]
    EmptyRange { low: i64, high: i64 },
    #[error("random numbers from {low} to {high}: the range is too large")]
    RangeTooLarge { low: i64, high: i64 },
    #[error("the parameter of random_gaussian must be at least 2, not {0}")]
    GaussianParameter(f64),
    #[error("the parameter of random_exponential must be above 0, not {0}")]
    ExponentialParameter(f64),
    #[error("the parameter of random_zipfian must be from 1.001 to 1000, not {0}")]
    ZipfianParameter(f64),
    #[error("permute needs a size above 0, not {0}")]
    PermuteSize(i64),
    #[error("\\startpipeline is inside a pipeline; end that first")]
    PipelineInPipeline,
    #[error("\\{0} is outside a pipeline: \\startpipeline was not reached")]
    OutsidePipeline(&'static str),
    #[error("the script ends inside a pipeline: \\endpipeline was not reached")]
    OpenPipeline,
    #[error("{0} needs an answer at once, which statements of a pipeline do not get")]
    GatherInPipeline(&'static str),
    #[error("\\gset needs one row, and the statement gave {0}")]
    Rows(u64),
    #[error("the command failed: {0}")]
    CommandFailed(String),
    #[error("\\setshell needs a whole number of 64 bits, and the command printed '{0}'")]
    NotPrintedNumber(String),
    #[error("a column is called '{0}', which cannot be the name of a variable; add AS and a name")]
    ColumnName(String),
}
