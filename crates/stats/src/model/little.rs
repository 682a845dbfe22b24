//! Consistency check of every closed-loop trial.

/// Number of busy clients by Little's law, as a share of all clients: X·R/N. X is events per second, R the mean latency
/// and N the number of clients, all of which begin at once.
///
/// (Little, "A proof for the queuing formula: L = λW", Operations Research 9(3), 1961.) It is 1 except for the time
/// between a client's events. Above 1, throughput or latency is measured wrongly. Clearly below 1, clients spent time
/// outside of events: think time, restarts of failed events, or waiting for an overloaded load generator.
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
