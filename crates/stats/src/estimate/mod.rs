//! Estimates of one figure, and of the ratio of two systems.

pub(crate) mod additive;
pub(crate) mod combined;
pub(crate) mod components;
pub(crate) mod interval;
pub(crate) mod location;
pub(crate) mod mean;
pub(crate) mod median;
pub(crate) mod rounds;
pub(crate) mod shift;
pub(crate) mod signed_rank;
pub(crate) mod slices;
pub(crate) mod variation;
