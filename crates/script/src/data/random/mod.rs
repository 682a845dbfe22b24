//! Random numbers, in sysbench's distributions.

mod distribution;
mod generator;
mod unique;
mod zipf;

pub(crate) use distribution::{Distributions, Shape};
pub(crate) use generator::Generator;
pub(crate) use unique::Unique;
pub use unique::UniqueCounters;
