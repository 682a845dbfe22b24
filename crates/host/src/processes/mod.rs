//! Processes: their counters, freezing, and pinning to cores.

pub(crate) mod counters;
pub(crate) mod cpu_clock;
pub(crate) mod freezer;
pub(crate) mod memory_kills;
pub(crate) mod own_cores;
pub(crate) mod switches;
