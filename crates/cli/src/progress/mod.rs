//! Showing how far things are: bars on a terminal, plain lines elsewhere. Always on standard error.

mod bars;
mod fetching;
mod lines;
mod live;
mod words;

use std::io::{IsTerminal as _, stderr};
use std::path::Path;

use dyno_lab::Observer;

pub(crate) use self::fetching::Fetching;
use crate::output;

/// Shows a run's progress in the terminal, and to `dyno serve` by the live file. If the user wants no progress, warnings are
/// shown.
pub(crate) fn observer(results: &Path) -> Box<dyn Observer> {
    let shown: Box<dyn Observer> = if stderr().is_terminal() && !output::is_quiet() {
        Box::new(bars::Bars::default())
    } else {
        Box::new(lines::Lines::default())
    };
    Box::new(live::Recorded::new(shown, results))
}
