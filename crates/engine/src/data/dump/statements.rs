//! The statements of SQL that a user types or pipes into Dyno.

use std::io::{self, BufRead};

use thiserror::Error;

use super::split::{Item, SplitError, Splitter, Statement, Syntax};
use crate::catalogue::entry::Family;

/// Why the next statement cannot be read from a text.
#[derive(Debug, Error)]
pub enum StatementError {
    /// The input cannot be read.
    #[error("cannot read SQL: {0}")]
    Read(#[source] io::Error),
    /// The statement is longer than any server accepts.
    #[error("line {line}: a statement may have at most 1 GiB")]
    TooLong {
        /// The statement's line, from 1.
        line: u64,
    },
    /// The input ends within a statement or a comment.
    #[error("line {line}: the statement does not end; close its quotes, comments and parentheses")]
    Open {
        /// The line in which the statement begins, from 1.
        line: u64,
    },
    /// The line is a command of `psql`.
    #[error("line {line}: `\\{command}` is a command of psql; send SQL, or use psql")]
    Command {
        /// The command without its backslash.
        command: String,
        /// The command's line, from 1.
        line: u64,
    },
    /// The statement has bytes that are not UTF-8.
    #[error("line {line}: the statement is not UTF-8; convert the file first")]
    NotUtf8 {
        /// The statement's line, from 1.
        line: u64,
    },
    /// The statement reads rows from the input.
    #[error("line {line}: COPY from stdin is not supported; use INSERT, or psql")]
    Copy {
        /// The statement's line, from 1.
        line: u64,
    },
}

/// The statements of a text. A statement ends as in the client programs `mysql` and `psql`: at a delimiter outside of
/// quotes, comments and bodies of routines. The last statement needs no delimiter.
pub struct Statements<R>(Splitter<R>);

impl<R: BufRead> Statements<R> {
    /// The statements for a server of a family. The text is read line by line.
    pub fn of(text: R, family: Family) -> Self {
        Self(Splitter::new(text, Syntax::of(family)))
    }

    /// The next statement without its delimiter. `None` at the end of the text.
    ///
    /// # Errors
    /// The text cannot be read, or its next part is not a complete statement. After an error of the second kind, the
    /// next call returns the statement that follows.
    pub fn next_statement(&mut self) -> Result<Option<String>, StatementError> {
        let item = self.0.next().map_err(|error| match error {
            SplitError::Read(error) => StatementError::Read(error),
            SplitError::TooLong { line } => StatementError::TooLong { line },
            SplitError::CutOff { line } => StatementError::Open { line },
        })?;
        match item {
            None => Ok(None),
            Some(Item::Command { text, line }) => Err(StatementError::Command { command: text, line }),
            Some(Item::Statement(statement)) if statement.has_rows => {
                Err(StatementError::Copy { line: statement.line })
            }
            Some(Item::Statement(Statement { sql, line, .. })) => {
                String::from_utf8(sql).map(Some).map_err(|_| StatementError::NotUtf8 { line })
            }
        }
    }
}
