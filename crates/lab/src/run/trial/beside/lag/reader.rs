//! Reads tokens on a replica, and asks the replica about its state.

use std::time::{Duration, Instant};

use dyno_engine::{Client, ReplicationMode, TokenReader};
use dyno_host::{ProcessSample, ProcessTree};
use dyno_store::ReplicaRecord;

use super::{ANSWER_PATIENCE, LagProbe};

/// Shortest and longest wait between two checks for a token. A check costs the replica about 0.1 ms. A token may arrive
/// at the beginning of a wait and is noticed at its end, so a measured lag is too long by at most one wait.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));
/// The wait until the next check for a token is the token's age divided by this number.
const AGE_PART: u32 = 50;
/// Time between two questions about the replica's state.
const STATUS_EVERY: Duration = Duration::from_millis(500);

/// What a thread knows about its replica.
struct Watched {
    place: usize,
    reader: Option<TokenReader>,
    status: Option<Client>,
    asked: Instant,
    /// Lag of each token that has arrived, in ms.
    lags_ms: Vec<f64>,
    /// The longest lag that the replica itself reported, in seconds.
    said_max_seconds: Option<f64>,
}

impl LagProbe<'_> {
    /// Watches a replica until the replica has all tokens. Records when each token appeared.
    pub(super) fn read(&self, place: usize) {
        let mut watched = Watched {
            place,
            reader: self.token_reader(place),
            status: None,
            asked: Instant::now(),
            lags_ms: Vec::new(),
            said_max_seconds: None,
        };
        if self.wait_to_begin().is_none() {
            return;
        }
        let mut process = ProcessTree::open(self.topology.replicas[place].pid).ok();
        let mut sample = || process.as_mut().and_then(|process| process.sample().ok());
        let (first, mut last) = (sample(), None);
        let mut caught_up = None;
        while !self.is_over() {
            let ended = self.ended();
            if ended.is_some() && last.is_none() {
                last = sample();
            }
            let oldest = self.progress().tokens.get(watched.lags_ms.len()).copied();
            match (oldest, ended) {
                (None, Some(ended)) => {
                    caught_up = Some(ended.elapsed());
                    break;
                }
                (None, None) => self.wait_for_token(watched.lags_ms.len()),
                (Some(token), _) => {
                    self.look(&mut watched);
                    self.ask(&mut watched);
                    if ended.is_some_and(|ended| ended.elapsed() > self.patience) {
                        self.fail(self.late(&watched));
                        break;
                    }
                    let age = token.committed.elapsed();
                    std::thread::sleep((age / AGE_PART).clamp(LOOK_AGAIN.0, LOOK_AGAIN.1));
                }
            }
        }
        let record = self.record(&watched, (first, last), caught_up);
        self.progress().records.push((record, watched.lags_ms));
    }

    fn token_reader(&self, place: usize) -> Option<TokenReader> {
        self.topology.connect_replica(place, ANSWER_PATIENCE).ok().map(TokenReader::new)
    }

    /// Checks which tokens have arrived.
    fn look(&self, watched: &mut Watched) {
        if watched.reader.is_none() {
            watched.reader = self.token_reader(watched.place);
        }
        let Some(reader) = &mut watched.reader else { return };
        let Ok(latest) = reader.read() else {
            watched.reader = None;
            return;
        };
        let now = Instant::now();
        let progress = self.progress();
        let unseen = &progress.tokens[watched.lags_ms.len()..];
        let arrived = unseen.iter().take_while(|token| token.number <= latest);
        let lag_ms = |at: Instant| now.saturating_duration_since(at).as_secs_f64() * 1e3;
        watched.lags_ms.extend(arrived.map(|token| lag_ms(token.committed)));
    }

    /// Asks the replica about its state, from time to time. If the replica has stopped, the trial fails.
    fn ask(&self, watched: &mut Watched) {
        if watched.asked.elapsed() < STATUS_EVERY {
            return;
        }
        watched.asked = Instant::now();
        if watched.status.is_none() {
            watched.status = self.topology.connect_replica(watched.place, ANSWER_PATIENCE).ok();
        }
        let Some(client) = &mut watched.status else { return };
        match self.topology.status(client) {
            Ok(status) => {
                let said = [watched.said_max_seconds, status.behind_seconds].into_iter().flatten();
                watched.said_max_seconds = said.reduce(f64::max);
                if let Some(reason) = status.stopped {
                    self.fail(format!("replica {} has stopped: {reason}", watched.place + 1));
                }
            }
            Err(_) => watched.status = None,
        }
    }

    fn late(&self, watched: &Watched) -> String {
        let said = watched.said_max_seconds;
        let said =
            said.map_or_else(String::new, |seconds| format!("; it says that it is {seconds:.1} s behind"));
        format!(
            "replica {} did not have what the primary has {} s after the load{said}",
            watched.place + 1,
            self.patience.as_secs()
        )
    }

    fn record(
        &self,
        watched: &Watched,
        (first, last): (Option<ProcessSample>, Option<ProcessSample>),
        caught_up: Option<Duration>,
    ) -> ReplicaRecord {
        let mut lags_ms = watched.lags_ms.clone();
        lags_ms.sort_by(f64::total_cmp);
        let used = first.zip(last).map(|(first, last)| last.since(&first));
        ReplicaRecord {
            number: watched.place as u32 + 1,
            mode: match self.topology.replication.mode {
                ReplicationMode::Asynchronous => dyno_store::ReplicationMode::Asynchronous,
                ReplicationMode::SemiSynchronous => dyno_store::ReplicationMode::SemiSynchronous,
                ReplicationMode::Synchronous => dyno_store::ReplicationMode::Synchronous,
                ReplicationMode::Galera => dyno_store::ReplicationMode::Galera,
            },
            delay_seconds: self.topology.replication.delay_seconds,
            tokens: lags_ms.len() as u32,
            lag_p50_ms: quantile(&lags_ms, 0.5),
            lag_p99_ms: quantile(&lags_ms, 0.99),
            lag_max_ms: lags_ms.last().copied(),
            said_max_seconds: watched.said_max_seconds,
            catch_up_seconds: caught_up.map(|time| time.as_secs_f64()),
            user_cpu_us: used.as_ref().map(|used| used.user_cpu_us),
            system_cpu_us: used.as_ref().map(|used| used.system_cpu_us),
            read_bytes: used.as_ref().and_then(|used| used.read_bytes),
            write_bytes: used.as_ref().and_then(|used| used.write_bytes),
        }
    }
}

/// Returns a quantile of an ordered list: the smallest value that at least the share `share` of the values do not
/// exceed.
fn quantile(ordered: &[f64], share: f64) -> Option<f64> {
    let place = (share * ordered.len() as f64).ceil() as usize;
    ordered.get(place.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn a_quantile_is_a_value_that_was_measured() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(
            [0.5, 0.99, 1.0].map(|share| quantile(&hundred, share)),
            [Some(50.0), Some(99.0), Some(100.0)]
        );
        assert_eq!(quantile(&[7.0], 0.5), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
