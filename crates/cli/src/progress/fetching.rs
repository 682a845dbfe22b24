//! Shows the progress of fetching an engine.

use std::fmt;
use std::io::{IsTerminal as _, stderr};

use dyno_engine::{Phase, Progress};
use dyno_printable::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// Shows the progress of fetches: a bar on a terminal, otherwise lines.
#[derive(Default)]
pub(crate) struct Fetching {
    shown: Option<(String, Phase)>,
    bar: Option<ProgressBar>,
}

impl Fetching {
    /// Shows how far the fetch of `what` is.
    pub(crate) fn show(&mut self, what: &dyn fmt::Display, progress: &Progress) {
        let now = (what.to_string(), progress.phase);
        if self.shown.as_ref() != Some(&now) {
            let words = format!("{what}: {}", progress.phase);
            if stderr().is_terminal() && !output::is_quiet() {
                self.bar.get_or_insert_with(bar).set_message(printable(&words).into_owned());
            } else {
                output::tell(&words);
            }
            self.shown = Some(now);
        }
        if let Some(bar) = &self.bar {
            bar.set_length(progress.total_bytes.unwrap_or(progress.done_bytes));
            bar.set_position(progress.done_bytes);
        }
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let template = "{bar:24} {bytes}/{total_bytes}  {wide_msg}, {eta} left";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}
