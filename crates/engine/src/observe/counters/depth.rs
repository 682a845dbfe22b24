//! Which of a system's counters a reading contains.

/// Which counters a reading contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Counters cheap enough for every second of a trial.
    Light,
    /// All counters. They are read at the beginning and the end of a trial.
    Full,
}
