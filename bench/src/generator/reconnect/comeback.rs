//! Measures how the connections of a load come back after all of them were lost.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use anyhow::ensure;
use dyno_engine::Server;
use dyno_load::Frame;

use super::loss::{Loss, Planted, attempts};
use crate::support::background::BackgroundLoad;
use crate::support::server;

/// Time between two reports (ticks) of the load. A login is counted when the tick that reports it arrives.
/// Therefore measured times are too long by at most this time, and never too short.
pub(super) const TICK_SECONDS: f64 = 0.02;
/// Time before each loss, in which the load runs undisturbed.
const CALM: Duration = Duration::from_secs(2);
/// Time limit for all connections to be back.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the connections came back.
pub(super) struct Comeback {
    connections: u32,
    /// For each tick, the seconds since the server could answer, and the number of logins since the tick before.
    logins: Vec<(f64, u64)>,
    /// Number of attempts to connect that reached the server.
    attempts: u64,
    /// CPU time in µs from the loss until all connections are back: first the server's, which includes its start
    /// after a kill, then the load's.
    cpu_us: [u64; 2],
}

impl Comeback {
    /// Loses all connections of a load, and waits until they are back.
    pub(super) fn after(
        way: Loss,
        server: &mut Server,
        load: &mut BackgroundLoad,
        connections: u32,
    ) -> anyhow::Result<Self> {
        load.go_on(CALM)?;
        let load_before_us = load.cpu_us()?;
        let Planted { answers, attempts: attempts_before, server_cpu_us } = way.plant(server)?;
        let (mut logins, mut back) = (Vec::new(), 0_u64);
        while back < u64::from(connections) {
            let (at, frame) = load.next()?;
            if let Frame::Tick(tick) = frame {
                back += tick.counts.reconnects;
                logins.push((at.saturating_duration_since(answers).as_secs_f64(), tick.counts.reconnects));
            }
            let waited = Instant::now().saturating_duration_since(answers);
            ensure!(waited < PATIENCE, "{back} of {connections} connections are back after {waited:.0?}");
        }
        let server_us = server::cpu_us(server.access())?.saturating_sub(server_cpu_us);
        let load_us = load.cpu_us()?.saturating_sub(load_before_us);
        let attempts = attempts(server)?.saturating_sub(attempts_before);
        Ok(Self { connections, logins, attempts, cpu_us: [server_us, load_us] })
    }

    /// Returns the seconds until a share of the connections was back.
    pub(super) fn seconds_until(&self, share: f64) -> f64 {
        let wanted = share * f64::from(self.connections);
        let mut back = 0_u64;
        let reached = self.logins.iter().find(|(_, logins)| {
            back += logins;
            back as f64 >= wanted
        });
        reached.map_or(f64::NAN, |(seconds, _)| *seconds)
    }

    /// Returns the number of logins in each tenth of a second. The logins of a tick count at the middle of the
    /// tick's time.
    pub(super) fn tenths(&self) -> Vec<u64> {
        let mut tenths: Vec<u64> = Vec::new();
        for (seconds, logins) in &self.logins {
            let tenth = ((seconds - TICK_SECONDS / 2.0).max(0.0) * 10.0) as usize;
            if tenths.len() <= tenth {
                tenths.resize(tenth + 1, 0);
            }
            tenths[tenth] += logins;
        }
        tenths
    }

    pub(super) fn most_in_a_tenth(&self) -> u64 {
        self.tenths().into_iter().max().unwrap_or(0)
    }

    /// Returns the CPU time per connection in µs: the server's, then the load's.
    pub(super) fn cpu_us_per_connection(&self) -> [f64; 2] {
        self.cpu_us.map(|us| us as f64 / f64::from(self.connections))
    }

    /// Returns the attempts to connect per connection. The number is above 1 if attempts failed and were repeated.
    pub(super) fn attempts_per_connection(&self) -> f64 {
        self.attempts as f64 / f64::from(self.connections)
    }
}

impl Display for Comeback {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [half, most, all] = [0.5, 0.99, 1.0].map(|share| self.seconds_until(share));
        write!(f, "50% back after {half:.2} s, 99% after {most:.2} s, all after {all:.2} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_back_when_their_figure_arrives_and_tenths_add_up() {
        let logins = vec![(0.0, 0), (0.02, 10), (0.12, 40), (0.14, 49), (0.9, 1)];
        let comeback = Comeback { connections: 100, logins, attempts: 110, cpu_us: [2000, 500] };
        assert_eq!(
            [0.5, 0.99, 1.0].map(|share| comeback.seconds_until(share).to_string()),
            ["0.12", "0.14", "0.9"]
        );
        assert_eq!(comeback.tenths(), [10, 89, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(comeback.cpu_us_per_connection().map(|us| us.to_string()), ["20", "5"]);
        assert_eq!((comeback.most_in_a_tenth(), comeback.attempts_per_connection()), (89, 1.1));
    }
}
