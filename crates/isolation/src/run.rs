//! Runs a test: starts a server, lets clients run transactions, and judges their history.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use dyno_engine::{
    Client, ClientError, Family, Installation, ReplicaGuard, Replication, ReplicationError, Role, Server,
    StartError, StartOptions, Topology, attach, start,
};
use dyno_stats::SplitMix64;

use crate::check::check;
use crate::client::{Lost, Operation, Worker, create};
use crate::history::Recorder;
use crate::level::{Level, Model};
use crate::report::{IsolationReport, ReplicaReads, Verdict};

/// Time limit for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of lists in use at a time. Transactions choose from them at random. Few lists make conflicts frequent.
const LISTS: usize = 6;
/// Number of appends after which a new list replaces a list. Without this limit, reads would become slower and
/// slower.
const APPENDS_MAX: u64 = 32;
/// Largest number of operations in a transaction.
const OPERATIONS_MAX: usize = 4;

/// The system to test.
#[derive(Clone, Debug)]
pub struct IsolatedSystem {
    pub installation: Installation,
    /// Default storage engine; `None` for the server's own.
    pub storage_engine: Option<String>,
    /// Server variables by name.
    pub settings: BTreeMap<String, String>,
    /// The folder in which the servers' data folders are made.
    pub data_root: PathBuf,
}

/// How a system is tested.
#[derive(Clone, Copy, Debug)]
pub struct IsolationOptions {
    pub level: Level,
    pub model: Model,
    /// The replicas that run a part of the transactions. About half of the transactions run on replicas, and these
    /// only read.
    pub replication: Option<Replication>,
    pub clients: u32,
    /// Transactions of all clients together.
    pub transactions: u64,
    pub seed: u64,
}

/// Why a test could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolationError {
    #[error(
        "{entry} runs inside dyno, where each connection has the file for itself; take a system with a server"
    )]
    NoServer { entry: String },
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Replication(#[from] ReplicationError),
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server ended while clients used it, or it refused to begin a transaction.
    #[error("the server is gone, or refuses to begin a transaction: {error}{}", below(log))]
    Lost {
        error: ClientError,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
    /// The recorded history could not be parsed.
    #[error("the history cannot be judged: {0}")]
    History(String),
    /// A client's thread panicked.
    #[error("a client ended unexpectedly")]
    ClientLost,
    #[error("stopped")]
    Stopped,
}

fn below(log: &[String]) -> String {
    let lines: String = log.iter().flat_map(|line| ["\n    ", line]).collect();
    if lines.is_empty() { lines } else { format!("; its last words:{lines}") }
}

/// A server, with the replicas that serve reads.
struct Servers {
    /// Declared first, because fields are dropped in this order and replicas must end before their primary.
    replicas: Vec<Server>,
    primary: Server,
    topology: Option<Topology>,
}

/// Runs transactions on a new server, and judges what they saw.
///
/// # Errors
/// The server does not start, its replicas do not catch up, the server ends during the test, or `stop` was set.
pub fn isolation_test(
    system: &IsolatedSystem,
    options: &IsolationOptions,
    stop: &AtomicBool,
) -> Result<IsolationReport, IsolationError> {
    let servers = begin(system, options)?;
    let recorder = Recorder::default();
    run_clients(system, &servers, options, &recorder, stop)?;
    if stop.load(Ordering::Relaxed) {
        return Err(IsolationError::Stopped);
    }
    let (history, ends) = recorder.finish();
    let judged = check(&history, options.model).map_err(IsolationError::History)?;
    let id = match system.storage_engine.as_deref() {
        Some(storage_engine) => format!("{}/{storage_engine}", system.installation.entry),
        None => system.installation.entry.to_string(),
    };
    Ok(IsolationReport {
        system: id,
        version: servers.primary.version().to_owned(),
        level: options.level,
        model: options.model,
        replicas: options.replication.map(|it| ReplicaReads {
            replicas: it.replicas,
            replication: it.mode,
            delay_seconds: it.delay_seconds,
        }),
        clients: options.clients,
        seed: options.seed,
        committed: ends.committed,
        failed: ends.failed,
        unknown: ends.unknown,
        anomalies: judged.anomalies,
        strongest: judged.strongest,
        verdict: if ends.committed == 0 { Verdict::Unknown } else { judged.verdict },
    })
}

fn begin(system: &IsolatedSystem, options: &IsolationOptions) -> Result<Servers, IsolationError> {
    let installation = &system.installation;
    if !installation.entry.family.has_server() {
        return Err(IsolationError::NoServer { entry: installation.entry.to_string() });
    }
    let start_options = |role| StartOptions {
        role,
        storage_engine: system.storage_engine.clone(),
        settings: system.settings.clone(),
        ..StartOptions::new(&system.data_root)
    };
    let role = options.replication.map_or(Role::Alone, Role::Primary);
    let primary = start(installation, start_options(role))?;
    let mut replicas = Vec::new();
    if let Some(replication) = options.replication {
        for number in 1..=replication.replicas {
            let of_primary = Box::new(primary.access().clone());
            let role = Role::Replica { number, replication, primary: of_primary };
            replicas.push(start(installation, start_options(role))?);
        }
    }
    let topology = attach(&primary, &replicas, ReplicaGuard::ReadOnly)?;
    primary.query(&create())?;
    if let Some(topology) = &topology {
        topology.catch_up(PATIENCE, &AtomicBool::new(false))?;
    }
    Ok(Servers { replicas, primary, topology })
}

/// Runs the transactions of all clients, each in a thread.
fn run_clients(
    system: &IsolatedSystem,
    servers: &Servers,
    options: &IsolationOptions,
    recorder: &Recorder,
    stop: &AtomicBool,
) -> Result<(), IsolationError> {
    let lists = Lists::default();
    let left = AtomicU64::new(options.transactions);
    let family = system.installation.entry.family;
    thread::scope(|scope| {
        let mut clients = Vec::new();
        for number in 0..options.clients {
            let primary = worker(servers.primary.connect(PATIENCE)?, number, family, options.level, recorder);
            let replica = match &servers.topology {
                Some(topology) => {
                    let place = number as usize % servers.replicas.len().max(1);
                    let client = topology.connect_replica(place, PATIENCE)?;
                    // In the history, each connection counts as a separate process.
                    Some(worker(
                        client,
                        options.clients + number,
                        family,
                        of_replica(family, options.level),
                        recorder,
                    ))
                }
                None => None,
            };
            let random = SplitMix64::new(options.seed.wrapping_add(u64::from(number) << 32));
            let (lists, left) = (&lists, &left);
            clients.push(scope.spawn(move || work(primary, replica, lists, random, left, stop)));
        }
        clients.into_iter().try_for_each(|client| {
            let outcome = client.join().map_err(|_| IsolationError::ClientLost)?;
            outcome.map_err(|Lost(error)| IsolationError::Lost { error, log: servers.primary.log_tail(10) })
        })
    })
}

fn worker(client: Client, process: u32, family: Family, level: Level, recorder: &Recorder) -> Worker<'_> {
    Worker { process, client, family, level, recorder }
}

/// Returns the level that transactions on a replica request. A replica of PostgreSQL refuses serializable
/// transactions, so transactions on it are only repeatable reads.
fn of_replica(family: Family, level: Level) -> Level {
    if family == Family::Postgres { level.min(Level::RepeatableRead) } else { level }
}

fn work(
    mut primary: Worker<'_>,
    mut replica: Option<Worker<'_>>,
    lists: &Lists,
    mut random: SplitMix64,
    left: &AtomicU64,
    stop: &AtomicBool,
) -> Result<(), Lost> {
    let take = |left: u64| left.checked_sub(1);
    while !stop.load(Ordering::Relaxed)
        && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    {
        let count = 1 + random.below(OPERATIONS_MAX);
        match &mut replica {
            Some(replica) if random.below(2) == 0 => replica.run(&lists.reads(count, &mut random))?,
            _ => primary.run(&lists.draw(count, &mut random))?,
        }
    }
    Ok(())
}

/// The lists that transactions choose from.
#[derive(Default)]
struct Lists(Mutex<Current>);

#[derive(Default)]
struct Current {
    /// The key of each list in use, and how often the list was appended to.
    lists: Vec<(u64, u64)>,
    next_key: u64,
}

impl Lists {
    /// Draws the operations of a transaction. On average, half of them append.
    fn draw(&self, count: usize, random: &mut SplitMix64) -> Vec<Operation> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (0..count)
            .map(|_| {
                let place = random.below(LISTS);
                if random.below(2) == 0 { current.append(place) } else { current.read(place) }
            })
            .collect()
    }

    /// Draws the operations of a transaction that only reads.
    fn reads(&self, count: usize, random: &mut SplitMix64) -> Vec<Operation> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (0..count).map(|_| current.read(random.below(LISTS))).collect()
    }
}

impl Current {
    fn list(&mut self, place: usize) -> &mut (u64, u64) {
        while self.lists.len() < LISTS {
            self.lists.push((self.next_key, 0));
            self.next_key += 1;
        }
        if self.lists[place].1 == APPENDS_MAX {
            self.lists[place] = (self.next_key, 0);
            self.next_key += 1;
        }
        &mut self.lists[place]
    }

    fn append(&mut self, place: usize) -> Operation {
        let (key, appends) = self.list(place);
        *appends += 1;
        Operation::Append { key: *key, value: *appends }
    }

    fn read(&mut self, place: usize) -> Operation {
        Operation::Read { key: self.list(place).0 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_number_is_appended_twice_to_a_list() {
        let (lists, mut random) = (Lists::default(), SplitMix64::new(1));
        let mut seen = BTreeSet::new();
        for operation in (0..1000).flat_map(|_| lists.draw(OPERATIONS_MAX, &mut random)) {
            if let Operation::Append { key, value } = operation {
                assert!(seen.insert((key, value)) && value <= APPENDS_MAX);
            }
        }
        assert!(seen.len() > 1000);
        let reads = lists.reads(OPERATIONS_MAX, &mut random);
        assert!(reads.iter().all(|it| matches!(it, Operation::Read { .. })));
    }
}
