//! Results go to standard output, everything else to standard error.

use std::io::{IsTerminal as _, Write as _, stderr, stdout};
use std::path::Path;

use anyhow::Context as _;
use dyno_export::write_file;
use dyno_printable::{printable, printable_json, printable_lines};
use dyno_report::RenderOptions;

/// Prints lines, which may hold text from outside. Where such a text must not begin a line of its own, it is escaped
/// before. A closed pipe is an error of kind `BrokenPipe`, not a panic.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_rendered(&printable_lines(text))
}

/// Prints text as it is: what `dyno-report` has rendered, which escapes what comes from outside and adds colours, or
/// what is for another program.
pub(crate) fn print_rendered(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes text to a file, whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_file(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// JSON as a line or lines for [`print`].
pub(crate) fn json(json: &str) -> String {
    printable_json(json).into_owned() + "\n"
}

/// Prints a line to standard error, and ignores failures to do so. Text from outside in it begins no other line.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(stderr(), "{}", printable(line));
}

/// Prints lines to standard error.
pub(crate) fn tell_lines(text: &str) {
    let _ = writeln!(stderr(), "{}", printable_lines(text));
}

/// The layout for standard output: a terminal's width, and colour unless `NO_COLOR` is set.
pub(crate) fn render_options() -> RenderOptions {
    let plain = RenderOptions::default();
    if !stdout().is_terminal() {
        return plain;
    }
    let width = terminal_size::terminal_size().map_or(plain.width, |(width, _)| usize::from(width.0));
    let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    RenderOptions { color, width }
}
