//! Commands that a client runs in a shell.

use super::client::text_of;
use super::state::State;
use crate::error::EvaluationError;
use crate::script::ShellWord;

/// Joins words and the texts of variables by spaces, as pgbench does. The shell splits the line again.
pub(super) fn line(words: &[ShellWord], state: &State) -> Result<Vec<u8>, EvaluationError> {
    let mut line = Vec::new();
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            line.push(b' ');
        }
        match word {
            ShellWord::Text(text) => line.extend_from_slice(text.as_bytes()),
            ShellWord::Variable(slot) => {
                let undefined = || EvaluationError::Undefined(state.name(*slot).to_owned());
                line.extend_from_slice(&text_of(state.content(*slot).ok_or_else(undefined)?));
            }
        }
    }
    Ok(line)
}

/// Reads the number on the first line that a command printed.
pub(super) fn number(printed: &[u8]) -> Result<i64, EvaluationError> {
    let text = String::from_utf8_lossy(printed);
    let first = text.lines().next().unwrap_or_default().trim();
    first.parse().map_err(|_| EvaluationError::NotPrintedNumber(first.to_owned()))
}
