//! Sections on throughput.

pub(super) mod capacity;
pub(crate) mod events;
pub(crate) mod joins;
pub(super) mod ladders;
pub(crate) mod matrices;
pub(super) mod repeated;
pub(super) mod replicas;
pub(super) mod scaling;
pub(super) mod sweeps;
pub(super) mod traffic;
