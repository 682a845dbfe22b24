//! How much of a system's counters is read at once.

/// How much is read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Counters cheap enough for every second of a trial.
    Light,
    /// All counters, for the beginning and the end of a trial.
    Full,
}
