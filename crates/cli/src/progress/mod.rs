//! Shows progress on standard error: bars on a terminal, plain lines elsewhere.

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

/// Shows a run's progress in the terminal, and to `dyno serve` through the live file. In quiet mode only
/// warnings are shown.
pub(crate) fn observer(results: &Path) -> Box<dyn Observer> {
    let shown: Box<dyn Observer> = if stderr().is_terminal() && !output::is_quiet() {
        Box::new(bars::Bars::default())
    } else {
        Box::new(lines::Lines::default())
    };
    Box::new(live::Recorded::new(shown, results))
}
