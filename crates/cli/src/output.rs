//! Writes results to standard output and everything else to standard error.

use std::env;
use std::io::{IsTerminal as _, Write as _, stderr, stdout};
use std::path::Path;
use std::sync::OnceLock;

use anyhow::Context as _;
use dyno_export::write_file;
use dyno_printable::{printable, printable_json, printable_lines};
use dyno_report::RenderOptions;

use crate::options::{ColorWhen, Manner};

/// How this process prints. Set after the command line is parsed.
static MANNER: OnceLock<Manner> = OnceLock::new();

/// Sets how this process prints. Later calls have no effect.
pub(crate) fn set_manner(manner: Manner) {
    let _ = MANNER.set(manner);
}

/// Whether the user wants no progress and no notes.
pub(crate) fn is_quiet() -> bool {
    MANNER.get().is_some_and(|manner| manner.quiet)
}

/// Prints lines, which may contain text from outside. If such text must not begin a new line, the caller escapes it
/// first. A closed pipe is an error of kind `BrokenPipe`, not a panic.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_rendered(&printable_lines(text))
}

/// Prints text unchanged: the output of `dyno-report`, which escapes text from outside and adds colours, or
/// output for another program.
pub(crate) fn print_rendered(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes text to a file atomically.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_file(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// Escapes JSON for [`print()`] and ends it with a line break.
pub(crate) fn json(json: &str) -> String {
    printable_json(json).into_owned() + "\n"
}

/// Prints a line of progress or a note to standard error, but not in quiet mode.
pub(crate) fn tell(line: &str) {
    if !is_quiet() {
        warn(line);
    }
}

/// Does the same as [`tell`] for several lines.
pub(crate) fn tell_lines(text: &str) {
    if !is_quiet() {
        warn_lines(text);
    }
}

/// Prints a warning, a verdict or an error on one line of standard error, and ignores write errors. Text from
/// outside cannot start another line.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(stderr(), "{}", printable(line));
}

/// Does the same as [`warn()`] for several lines.
pub(crate) fn warn_lines(text: &str) {
    let _ = writeln!(stderr(), "{}", printable_lines(text));
}

/// The layout for standard output: the width of the terminal, and colour if enabled.
pub(crate) fn render_options() -> RenderOptions {
    let plain = RenderOptions::default();
    let is_terminal = stdout().is_terminal();
    let of_terminal = terminal_size::terminal_size().filter(|_| is_terminal);
    let width = of_terminal.map_or(plain.width, |(width, _)| usize::from(width.0));
    RenderOptions { color: has_color(is_terminal), width }
}

fn has_color(is_terminal: bool) -> bool {
    match MANNER.get().map_or(ColorWhen::Auto, |manner| manner.color) {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        // See <https://no-color.org>. A dumb terminal has no colours.
        ColorWhen::Auto => {
            let is_refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !is_refused && env::var_os("TERM").is_none_or(|name| name != "dumb")
        }
    }
}
