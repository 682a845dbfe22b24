//! Connects `\startpipeline` with its statements.

use super::{Action, Command};
use crate::error::Problem;
use crate::expression::Wrong;

/// Sets the statements of each `\startpipeline`. Which branches are taken is known only when the script runs, so a
/// pipeline gets the statements of all branches.
pub(super) fn join(commands: &mut [Command], first_statement: usize) -> Result<(), Wrong> {
    let mut next_statement = first_statement;
    // Every `\startpipeline` that the next `\endpipeline` may end, as the number of its command and the number of the
    // first statement after it.
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut is_closed = true;
    for number in 0..commands.len() {
        let at = commands[number].at;
        match &commands[number].action {
            Action::Sql(statement) => next_statement = statement.number + 1,
            Action::StartPipeline { .. } => {
                if std::mem::take(&mut is_closed) {
                    starts.clear();
                }
                starts.push((number, next_statement));
            }
            Action::SyncPipeline if starts.is_empty() => {
                return Err(Wrong { at, problem: Problem::NoStartpipeline("syncpipeline") });
            }
            Action::EndPipeline if starts.is_empty() => {
                return Err(Wrong { at, problem: Problem::NoStartpipeline("endpipeline") });
            }
            Action::EndPipeline => {
                is_closed = true;
                for &(start, first) in &starts {
                    commands[start].action = Action::StartPipeline { statements: first..next_statement };
                }
            }
            _ => {}
        }
    }
    match starts.first() {
        Some(&(number, _)) if !is_closed => {
            Err(Wrong { at: commands[number].at, problem: Problem::NoEndpipeline })
        }
        _ => Ok(()),
    }
}
