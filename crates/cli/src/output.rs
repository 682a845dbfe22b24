//! Results go to standard output, everything else to standard error.

use std::io::{IsTerminal as _, Write as _, stderr, stdout};

use dyno_report::RenderOptions;

/// Prints text. A closed pipe is an error of kind `BrokenPipe`, not a panic.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a line to standard error, and ignores failures to do so.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(stderr(), "{text}");
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
