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

/// A name is suggested if it is at most this many edits away, and fewer than the wrong name has letters.
const NEAR: usize = 2;

/// A script after reading.
#[derive(Debug)]
pub(crate) struct Script {
    /// Its file, for messages.
    pub(crate) file: String,
    pub(crate) weight: u32,
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug)]
pub(crate) struct Command {
    /// The first line is 1.
    pub(crate) line: u32,
    /// Its position in the script, in bytes.
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
    /// If the condition is false, the command `otherwise` comes next. It is an `elif`, an `else` or the `endif`.
    If {
        condition: Expression,
        otherwise: usize,
    },
    /// If the branch before it was taken, the command `end` comes next.
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
    /// Has a shell run a command. The number that it prints is stored in the variable, if there is one.
    Shell {
        words: Vec<ShellWord>,
        slot: Option<usize>,
    },
    /// From here on statements are sent together. These are the numbers of the statements up to the next `\endpipeline`.
    StartPipeline {
        statements: Range<usize>,
    },
    /// After an earlier error, the server continues from here.
    SyncPipeline,
    EndPipeline,
}

/// A time in the units of its command.
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
