//! Models of throughput and capacity.

pub(crate) mod bottleneck;
pub(crate) mod capacity;
pub(crate) mod little;
pub(crate) mod operational;
pub(crate) mod scalability;
