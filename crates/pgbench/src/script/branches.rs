//! Connects `\if` with its `\elif`, `\else` and `\endif`.

use super::{Action, Command};
use crate::error::Problem;
use crate::expression::Wrong;

/// An `\if` whose `\endif` has not been found yet.
struct Open {
    /// The command numbers of the branches so far.
    branches: Vec<usize>,
    has_else: bool,
}

/// Sets the commands at which the script continues after each `\if`, `\elif` and `\else`.
pub(super) fn join(commands: &mut [Command]) -> Result<(), Wrong> {
    let mut stack: Vec<Open> = Vec::new();
    for number in 0..commands.len() {
        let at = commands[number].at;
        let wrong = |problem| Wrong { at, problem };
        match commands[number].action {
            Action::If { .. } => stack.push(Open { branches: vec![number], has_else: false }),
            Action::Elif { .. } | Action::Else { .. } => {
                let is_else = matches!(commands[number].action, Action::Else { .. });
                let name = if is_else { "else" } else { "elif" };
                let open = stack.last_mut().ok_or_else(|| wrong(Problem::NoIf(name)))?;
                if open.has_else {
                    return Err(wrong(Problem::AfterElse(name)));
                }
                open.has_else = is_else;
                open.branches.push(number);
            }
            Action::Endif => {
                let open = stack.pop().ok_or_else(|| wrong(Problem::NoIf("endif")))?;
                close(commands, &open.branches, number);
            }
            Action::Sql(_)
            | Action::Set { .. }
            | Action::Sleep { .. }
            | Action::Shell { .. }
            | Action::StartPipeline { .. }
            | Action::SyncPipeline
            | Action::EndPipeline => {}
        }
    }
    match stack.first() {
        Some(open) => Err(Wrong { at: commands[open.branches[0]].at, problem: Problem::NoEndif }),
        None => Ok(()),
    }
}

fn close(commands: &mut [Command], branches: &[usize], endif: usize) {
    for (place, &number) in branches.iter().enumerate() {
        let next = branches.get(place + 1).copied().unwrap_or(endif);
        match &mut commands[number].action {
            Action::If { otherwise, .. } => *otherwise = next,
            Action::Elif { otherwise, end, .. } => (*otherwise, *end) = (next, endif),
            Action::Else { end } => *end = endif,
            _ => {}
        }
    }
}
