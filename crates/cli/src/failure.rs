//! Reports an error on standard error and chooses the exit status.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use dyno_engine::CatalogueError;
use dyno_lab::{PlanError, ScriptMistake};
use dyno_search::DisturbedHost;
use dyno_settings::{ProfileError, SettingsError};

use crate::output;

/// Exit status for wrong arguments or input. If exit status 1 is an answer of a command, all errors of that command
/// have the status `USAGE`.
pub(crate) const USAGE: u8 = 2;

/// Exit status of a gate that is undecided.
pub(crate) const NOT_DECIDED: u8 = 3;

/// Prints `error: what: cause: its cause` and returns the exit status. If a disturbed host prevents a verdict,
/// prints `not decided: …` and returns [`NOT_DECIDED`], because this is a result and not an error.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        // The reader of the output has closed it (`dyno report | head`).
        return ExitCode::SUCCESS;
    }
    if error.is::<DisturbedHost>() {
        output::warn_lines(&format!("not decided: {}", sentence(error)));
        return ExitCode::from(NOT_DECIDED);
    }
    output::warn_lines(&format!("error: {}", sentence(error)));
    for mistake in further_mistakes(error) {
        output::warn_lines(&format!("error: {}", with_own_lines(&mistake.to_string())));
    }
    let is_usage = error.chain().any(|cause| {
        cause.is::<PlanError>()
            || cause.is::<ScriptMistake>()
            || cause.is::<CatalogueError>()
            || cause.is::<ProfileError>()
            || cause.is::<SettingsError>()
    });
    if is_usage { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}

/// The exit status of a command for which status 1 is an answer. Errors are printed and get another status.
pub(crate) fn of_gate(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        let status = report(&error);
        if error.is::<DisturbedHost>() { status } else { ExitCode::from(USAGE) }
    })
}

/// The mistakes of a plan except the first, which the error's own sentence describes.
fn further_mistakes(error: &anyhow::Error) -> &[PlanError] {
    error
        .chain()
        .find_map(|cause| cause.downcast_ref::<PlanError>())
        .map_or(&[][..], |first| first.others.as_slice())
}

/// The error with its causes, on one line. A cause is left out if the message before it already contains the text of
/// the cause.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = String::new();
    let mut last = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if last.contains(&cause) {
            continue;
        }
        if !sentence.is_empty() {
            sentence.push_str(": ");
        }
        sentence.push_str(&cause);
        last = cause;
    }
    with_own_lines(&sentence)
}

/// Keeps a line break only before an indented line, because Dyno's own errors indent the lines after the first. All
/// other line breaks come from outside and are escaped.
fn with_own_lines(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out += if line.starts_with("  ") { "\n" } else { r"\n" };
        out += line;
    }
    out
}

/// Whether the error says that the reader of standard output closed the pipe.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_closed = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(is_closed)
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn causes_follow_in_one_line_and_none_twice() {
        let disk = io::Error::other("no space");
        let error = anyhow::Error::new(disk).context("cannot write a.txt").context("report failed");
        assert_eq!(sentence(&error), "report failed: cannot write a.txt: no space");
        let error = Err::<(), _>(io::Error::other("no space")).context("cannot write: no space").unwrap_err();
        assert_eq!(sentence(&error), "cannot write: no space");
    }

    #[test]
    fn a_text_from_outside_begins_no_line() {
        let error = anyhow::anyhow!("plan.toml:1:2: unknown key `a\nerror: b`\n  1 | x\n    | ^");
        assert_eq!(sentence(&error), "plan.toml:1:2: unknown key `a\\nerror: b`\n  1 | x\n    | ^");
    }

    #[test]
    fn a_reader_that_has_enough_is_no_failure() {
        let error = anyhow::Error::new(io::Error::from(io::ErrorKind::BrokenPipe)).context("cannot print");
        assert!(is_closed_pipe(&error));
        assert!(!is_closed_pipe(&anyhow::anyhow!("other")));
    }
}
