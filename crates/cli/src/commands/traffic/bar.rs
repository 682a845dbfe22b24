//! The progress of an import.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use dyno_printable::printable;
use dyno_traffic::Progress;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// Time between two lines of progress, which are printed if there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Shows progress: a bar on a terminal, otherwise occasional lines.
#[derive(Default)]
pub(super) struct Bar {
    bar: Option<ProgressBar>,
    /// The time at which the latest line was printed. Before the first line, the time at which the import began.
    last: Option<Instant>,
}

impl Bar {
    pub(super) fn show(&mut self, progress: &Progress<'_>) {
        let &Progress { name, read_bytes, total_bytes, statements } = progress;
        if stderr().is_terminal() && !output::is_quiet() {
            let bar = self.bar.get_or_insert_with(bar);
            bar.set_length(total_bytes.unwrap_or(read_bytes));
            bar.set_position(read_bytes);
            bar.set_message(
                printable(&format!("{name}, {} statements", HumanCount(statements))).into_owned(),
            );
            return;
        }
        let last = self.last.get_or_insert_with(Instant::now);
        if last.elapsed() >= LINE_EVERY {
            *last = Instant::now();
            let of = total_bytes.map_or_else(String::new, |bytes| format!(" of {}", HumanBytes(bytes)));
            output::tell(&format!(
                "{name}: {}{of} read, {} statements",
                HumanBytes(read_bytes),
                HumanCount(statements)
            ));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let template = "{bar:24} {bytes}/{total_bytes}, {bytes_per_sec}  {wide_msg}, {eta} left";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}
