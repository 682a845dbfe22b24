//! Holds a replica back for a known time, and measures the replica's lag meanwhile.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use dyno_engine::{Client, ClientError, Family, Topology};
use dyno_lab::{ReplicaLag, measure_lag};
use dyno_stats::median;

/// Time limit of a server's answer, and for the replica to receive all tokens.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time before and after a stop. Also the time to wait until a changed setting is in force.
const AROUND: Duration = Duration::from_millis(300);
/// How long tokens are written while the replica applies commits with a delay.
const DELAYED: Duration = Duration::from_secs(2);

/// What was measured while the replica was held back for a time. A token is a row that shows by its arrival how
/// late the replica is.
pub(super) struct Hold {
    pub(super) planted_ms: u32,
    /// The tokens whose true lag is known.
    pub(super) tokens: Vec<Token>,
    /// The longest lag that the replica itself reported, in seconds; `None` if it reported none.
    pub(super) said_max_seconds: Option<f64>,
}

/// A token with its true lag (`planted_ms`) and its measured lag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) planted_ms: f64,
    pub(super) measured_ms: f64,
}

impl Hold {
    /// Returns the distance of each token's measured lag from its true lag, in ms.
    pub(super) fn off_ms(&self) -> impl Iterator<Item = f64> + '_ {
        self.tokens.iter().map(|token| (token.measured_ms - token.planted_ms).abs())
    }

    /// Returns the median distance of a measured lag from the true lag, in ms; `None` if there are no tokens.
    pub(super) fn median_off_ms(&self) -> Option<f64> {
        median(&self.off_ms().collect::<Vec<_>>())
    }

    /// Returns the largest distance of a measured lag from the true lag, in ms; `None` if there are no tokens.
    pub(super) fn worst_off_ms(&self) -> Option<f64> {
        self.off_ms().reduce(f64::max)
    }
}

/// Holds the only replica back for a time in ms, and measures its lag.
pub(super) fn hold(topology: &Topology, planted_ms: u32) -> anyhow::Result<Hold> {
    let mut client = topology.connect_replica(0, PATIENCE)?;
    match topology.family {
        Family::Postgres => delay(topology, &mut client, planted_ms),
        Family::Mysql | Family::Mariadb => stop(topology, &mut client, planted_ms),
        Family::Sqlite => Err(anyhow!("SQLite has no replicas")),
    }
}

/// Holds a replica of PostgreSQL back: it applies each commit `planted_ms` after the commit was made.
fn delay(topology: &Topology, client: &mut Client, planted_ms: u32) -> anyhow::Result<Hold> {
    client.query(&format!("ALTER SYSTEM SET recovery_min_apply_delay = '{planted_ms}ms'"))?;
    client.query("SELECT pg_reload_conf()")?;
    thread::sleep(AROUND);
    let ((), lag) = measured(topology, || thread::sleep(DELAYED))?;
    let of = |measured_ms: f64| Token { planted_ms: f64::from(planted_ms), measured_ms };
    let tokens = lag.tokens.iter().map(|token| of(token.lag_ms)).collect();
    Ok(Hold { planted_ms, tokens, said_max_seconds: lag.record.said_max_seconds })
}

/// A time in which the replica applied nothing.
struct Stopped {
    /// When the replica had stopped.
    from: Instant,
    /// When the replica was told to continue.
    until: Instant,
    /// When the replica had continued.
    went_on: Instant,
}

/// Holds a replica of MariaDB or MySQL back: it stops applying transactions for `planted_ms`.
fn stop(topology: &Topology, client: &mut Client, planted_ms: u32) -> anyhow::Result<Hold> {
    let (stopped, lag) = measured(topology, || {
        thread::sleep(AROUND);
        order_applier(client, "STOP")?;
        let from = Instant::now();
        thread::sleep(Duration::from_millis(u64::from(planted_ms)));
        let until = Instant::now();
        order_applier(client, "START")?;
        let went_on = Instant::now();
        thread::sleep(AROUND);
        Ok::<_, ClientError>(Stopped { from, until, went_on })
    })?;
    let Stopped { from, until, went_on } = stopped?;
    let held = lag.tokens.iter().filter(|token| (from..until).contains(&token.committed));
    let tokens = held.map(|token| Token {
        planted_ms: (went_on - token.committed).as_secs_f64() * 1e3,
        measured_ms: token.lag_ms,
    });
    Ok(Hold { planted_ms, tokens: tokens.collect(), said_max_seconds: lag.record.said_max_seconds })
}

/// Stops or starts the thread that applies transactions on a replica of MariaDB or MySQL.
fn order_applier(client: &mut Client, verb: &str) -> Result<(), ClientError> {
    match client.query(&format!("{verb} REPLICA SQL_THREAD")) {
        // Older servers do not know the word `REPLICA`.
        Err(ClientError::Server(_)) => client.query(&format!("{verb} SLAVE SQL_THREAD")).map(drop),
        answer => answer.map(drop),
    }
}

/// Measures the lag of the only replica while `during` runs, in the way that trials do.
fn measured<T>(topology: &Topology, during: impl FnOnce() -> T) -> anyhow::Result<(T, ReplicaLag)> {
    let (done, replicas) =
        measure_lag(topology.clone(), PATIENCE, during).map_err(|reason| anyhow!(reason))?;
    let lag = replicas.into_iter().next().context("the replica was not measured")?;
    Ok((done, lag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_off_in_either_direction() {
        let token = |planted_ms, measured_ms| Token { planted_ms, measured_ms };
        let tokens = vec![token(100.0, 103.0), token(50.0, 49.0), token(10.0, 22.0)];
        let hold = Hold { planted_ms: 100, tokens, said_max_seconds: None };
        assert_eq!((hold.median_off_ms(), hold.worst_off_ms()), (Some(3.0), Some(12.0)));
        let none = Hold { planted_ms: 100, tokens: Vec::new(), said_max_seconds: None };
        assert_eq!((none.median_off_ms(), none.worst_off_ms()), (None, None));
    }
}
