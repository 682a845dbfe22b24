//! Operational laws, which hold for any system regardless of its distributions.
//!
//! (Denning and Buzen, "The operational analysis of queueing network models", ACM Computing Surveys 10(3), 1978;
//! Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984, chapters 3 and 5.)

/// Utilisation of a resource, by the utilisation law U = X·D / C.
///
/// X is operations per second, D the demand of an operation on the resource, and C the capacity of the resource per
/// second. For CPUs, D is in CPU seconds and C is the number of CPUs. For a device, D is in requests and C in
/// requests per second.
pub fn utilisation(rate: f64, demand: f64, capacity: f64) -> f64 {
    rate * demand / capacity
}

/// The most operations per second that a resource allows: X ≤ C / D, because utilisation is at most 1. `None`
/// without a demand.
pub fn rate_max(demand: f64, capacity: f64) -> Option<f64> {
    (demand > 0.0).then(|| capacity / demand)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn a_millisecond_of_cpu_an_operation_on_two_cpus() {
        assert_close(utilisation(1500.0, 0.001, 2.0), 0.75, 1e-12);
        assert_close(rate_max(0.001, 2.0).unwrap(), 2000.0, 1e-9);
        assert_eq!(rate_max(0.0, 2.0), None);
    }
}
