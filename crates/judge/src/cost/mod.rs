//! What throughput costs, and what other hardware would do.

pub(crate) mod forecast;
pub(crate) mod price;
