//! The host as a whole: its facts, its counters, and its other users.

pub(crate) mod awake;
pub(crate) mod checks;
pub(crate) mod counters;
pub(crate) mod device;
pub(crate) mod disk;
pub(crate) mod facts;
pub(crate) mod neighbours;
