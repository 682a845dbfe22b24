//! A script: SQL statements and backslash commands.

mod branches;
mod command;
mod pipelines;
mod reader;
mod sql;

use std::ops::Range;

use crate::expression::Expression;

pub(crate) use reader::read;
pub(crate) use sql::{Piece, Statement};

/// For a wrong name, a known name is suggested if at most this many edits turn the wrong name into the known one. The
/// number of edits must also be below the number of letters in the wrong name.
const NEAR: usize = 2;

/// A script after reading.
#[derive(Debug)]
pub(crate) struct Script {
    /// The path of the script's file, for messages.
    pub(crate) file: String,
    pub(crate) weight: u32,
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug)]
pub(crate) struct Command {
    /// The first line is 1.
    pub(crate) line: u32,
    /// The command's position in the script, in bytes.
    at: usize,
    pub(crate) action: Action,
}

/// What a command does. The numbers of commands count from 0 within their script.
#[derive(Debug)]
pub(crate) enum Action {
    Sql(Statement),
    Set {
        slot: usize,
        expression: Expression,
    },
    /// If the condition is false, the command `otherwise` comes next, which is the next `elif`, `else` or `endif` of
    /// this `if`.
    If {
        condition: Expression,
        otherwise: usize,
    },
    /// If the preceding branch was taken, the command `end` comes next.
    Elif {
        condition: Expression,
        otherwise: usize,
        end: usize,
    },
    Else {
        end: usize,
    },
    Endif,
    Sleep {
        time: Time,
        unit_us: u64,
    },
    /// Runs a command in a shell. If there is a variable, the number that the command prints is stored in it.
    Shell {
        words: Vec<ShellWord>,
        slot: Option<usize>,
    },
    /// Begins a pipeline. From here on, statements are sent together. The field has the numbers of the statements up to
    /// the next `\endpipeline`.
    StartPipeline {
        statements: Range<usize>,
    },
    /// Adds a point of synchronization. If an earlier statement of the pipeline fails, the server skips the statements
    /// up to this point and continues after it.
    SyncPipeline,
    EndPipeline,
}

/// A time that a script gives as a number or a variable. The unit is stored in the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    Number(i64),
    /// The variable with this number.
    Variable(usize),
}

/// A word of a command that a shell runs.
#[derive(Debug)]
pub(crate) enum ShellWord {
    Text(String),
    /// The variable with this number.
    Variable(usize),
}

/// A hint that suggests the known name nearest to a wrong one. Empty if no known name is near.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    known
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .min()
        .filter(|(distance, _)| *distance <= NEAR && *distance < name.chars().count())
        .map_or_else(String::new, |(_, candidate)| format!(" (did you mean {candidate}?)"))
}
