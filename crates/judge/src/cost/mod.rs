//! Costs of throughput, and forecasts for other hardware.

pub(crate) mod forecast;
pub(crate) mod price;
