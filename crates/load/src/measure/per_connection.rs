//! Events and busy time of each connection.

use crate::protocol::frame::Fairness;

/// Finished events of one connection, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionStat {
    pub(crate) events: u64,
    pub(crate) busy_ns: u64,
}

/// The figures of all connections, by the connection's number.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionStats(Vec<ConnectionStat>);

impl ConnectionStats {
    /// Creates figures of zero for the given number of connections.
    pub(crate) fn of(connections: u32) -> Self {
        Self(vec![ConnectionStat::default(); connections as usize])
    }

    /// Records a finished event.
    pub(crate) fn event(&mut self, connection: u32, latency_ns: u64) {
        let index = connection as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, ConnectionStat::default());
        }
        self.0[index].events += 1;
        self.0[index].busy_ns += latency_ns;
    }

    /// Adds the figures of `other` to those of the same connections.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), ConnectionStat::default());
        }
        for (into, served) in self.0.iter_mut().zip(&other.0) {
            into.events += served.events;
            into.busy_ns += served.busy_ns;
        }
    }

    /// Resets all figures to zero.
    pub(crate) fn clear(&mut self) {
        self.0.fill(ConnectionStat::default());
    }

    /// Means and standard deviations, over connections, of a connection's events and time in events.
    pub(crate) fn fairness(&self) -> Fairness {
        let (events_avg, events_stddev) = spread(self.0.iter().map(|served| served.events as f64));
        let (seconds_avg, seconds_stddev) = spread(self.0.iter().map(|served| served.busy_ns as f64 / 1e9));
        Fairness { events_avg, events_stddev, seconds_avg, seconds_stddev }
    }
}

/// Mean and population standard deviation; both are 0 if there are no values.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    // `sum` is not used, because it returns -0 for an empty iterator.
    let mean = values.clone().fold(0.0, |sum, value| sum + value) / count;
    let variance = values.map(|value| (value - mean).powi(2)).fold(0.0, |sum, value| sum + value) / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_were_not_served_count_too() {
        let mut all = ConnectionStats::of(4);
        assert_eq!(all.fairness(), Fairness::default());
        let mut more = ConnectionStats::default();
        (0..4).for_each(|_| more.event(1, 500_000_000));
        (0..4).for_each(|_| more.event(0, 500_000_000));
        all.merge(&more);
        let fairness =
            Fairness { events_avg: 2.0, events_stddev: 2.0, seconds_avg: 1.0, seconds_stddev: 1.0 };
        assert_eq!(all.fairness(), fairness);
        all.clear();
        assert_eq!(all.fairness(), Fairness::default());
    }
}
