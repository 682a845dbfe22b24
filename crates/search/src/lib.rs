//! Searches: the version that made a test slower ([`Bisect`]), the changes that cause a difference ([`Prove`]), and
//! better settings ([`Tune`]). The crate also collects the evidence in a results file that explains a difference
//! ([`explain`]).
//!
//! A search compares two systems at a time, and each result decides the next comparison. `dyno-judge` makes these
//! decisions with state machines that do no I/O. This crate carries out the comparisons. Each comparison becomes a
//! plan of two systems. The caller's [`Lab`] runs the plan, and the comparison is judged from the results file. Every
//! comparison is a separate run that records the question it answers. Therefore a stopped search can continue without
//! repeating the comparisons that are in the file.
//!
//! The search for a capacity is in `dyno-lab`, because it takes place within one trial.

use std::time::Duration;

pub mod bisect;
pub mod explain;
mod images;
pub mod prove;
mod reported;
mod session;
pub mod tune;
pub mod upgrade;

pub use bisect::Bisect;
pub use prove::Prove;
pub use reported::facts;
pub use session::{DisturbedHost, Lab};
pub use tune::Tune;
pub use upgrade::TriedUpgrade;

/// Formats a duration in whole seconds, at least one: `3m 20s`.
pub fn duration(seconds: f64) -> String {
    let whole = if seconds < 1.0 { 1 } else { seconds.round() as u64 };
    humantime::format_duration(Duration::from_secs(whole)).to_string()
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The search was complete, or its time was over.
    Ended,
    /// The user stopped the search.
    Stopped,
}
