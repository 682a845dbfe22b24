//! Showing how far things are: bars on a terminal, plain lines elsewhere. Always on standard error.

mod bars;
mod fetching;
mod lines;
mod words;

use std::io::{IsTerminal as _, stderr};

use dyno_lab::Observer;

pub(crate) use self::fetching::Fetching;

/// Shows a run's progress.
pub(crate) fn observer() -> Box<dyn Observer> {
    if stderr().is_terminal() { Box::new(bars::Bars::default()) } else { Box::new(lines::Lines::default()) }
}
