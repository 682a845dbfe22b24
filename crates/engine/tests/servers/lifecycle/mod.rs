//! The life of a server: it is fetched, starts, outlives its maker if it should, and may fail at work.

pub(crate) mod detached;
pub(crate) mod faults;
pub(crate) mod fetching;
pub(crate) mod starting;
