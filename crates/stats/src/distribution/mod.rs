//! Distributions, and random numbers.

pub(crate) mod energy;
pub(crate) mod normal;
pub(crate) mod proportion;
pub(crate) mod random;
pub(crate) mod student;
pub(crate) mod u_distribution;
