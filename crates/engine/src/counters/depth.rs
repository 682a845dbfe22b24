//! How much of a system's counters is read at once.

/// How much is read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// What is cheap enough for every second of a trial.
    Light,
    /// That and what a server takes longer to gather: for the begin and the end of a trial.
    Full,
}
