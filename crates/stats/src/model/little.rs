//! A consistency check by Little's law, for closed-loop trials.

/// Number of busy clients by Little's law, as a share of all clients: X·R/N. X is events per second, R the mean
/// latency and N the number of clients, all of which begin at once.
///
/// (Little, "A proof for the queuing formula: L = λW", Operations Research 9(3), 1961.) The result is 1 if clients
/// spend no time between events. If it is above 1, throughput or latency is measured wrongly. If it is clearly
/// below 1, clients spent time outside of events: think time, restarts of failed events, or waiting for an
/// overloaded load generator.
pub fn busy_share(events_per_second: f64, latency_mean_us: f64, clients: u32) -> f64 {
    events_per_second * latency_mean_us / 1e6 / f64::from(clients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn four_clients_at_two_milliseconds_do_two_thousand_a_second() {
        assert_close(busy_share(2000.0, 2000.0, 4), 1.0, 1e-12);
        assert_close(busy_share(1000.0, 2000.0, 4), 0.5, 1e-12);
    }
}
