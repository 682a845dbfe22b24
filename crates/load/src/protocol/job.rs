//! A job: the input of the load process, one JSON document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dyno_client::{Metadata, Tls, Trust};
use serde::{Deserialize, Serialize};

use crate::protocol::replay::Replay;
use crate::schedule::arrivals::Rate;
use crate::statements::changed_names::ChangedNames;

/// What a lost connection does to a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostConnections {
    /// The job fails.
    #[default]
    Fail,
    /// The load continues. The event that was in flight counts as [failed](crate::Counts::failed). `thread_init` runs
    /// again to open the connection. If it fails, it is repeated after waits that grow. If the server cancels a
    /// statement, that error is ignored too. The total has a [timeline](crate::Total::timeline).
    Reconnect,
}

/// One command of one script against one database.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The database under load.
    pub target: Target,
    pub script: Script,
    /// The command: `run`, `prepare`, `cleanup`, or one that the script defines.
    pub command: String,
    /// The script's options as a user would write them (`tables` → `4`).
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Number of connections. Each has a coroutine or a thread of its own.
    pub connections: u32,
    /// Whether connections run as coroutines on event loops, or on threads of their own.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// How the event loop moves bytes.
    #[serde(default)]
    pub io: IoMethod,
    /// Number of event loops, each on a thread of its own; `None` for the default.
    #[serde(default)]
    pub loops: Option<u32>,
    /// Length of the warm-up in seconds. Results do not include the warm-up.
    #[serde(default)]
    pub warmup_seconds: f64,
    /// Longest warm-up in seconds. While the rate is not steady, the warm-up continues up to this time. With 0, the
    /// warm-up does not wait for a steady rate.
    #[serde(default)]
    pub warmup_seconds_max: f64,
    /// Measured time in seconds; `None` for no limit.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Number of events; `None` for no limit.
    #[serde(default)]
    pub events: Option<u64>,
    /// Rate of an open loop, in events per second over all connections. `None` for a closed loop, in which each
    /// connection starts its next event when the previous one ends.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Whether events run in slices only. Each slice begins with a [`SliceOrder`](crate::SliceOrder) on standard input,
    /// and connections rest between slices. Such a job has no warm-up, no `seconds` and no rate. It ends when standard
    /// input ends.
    #[serde(default)]
    pub sliced: bool,
    /// The times at which connections join the load, in order; empty if all begin at once. All connections are open
    /// from the start, and each begins its first event when it joins. Measuring begins with
    /// [`Order::Measure`](crate::Order::Measure). Such a job is a closed loop without warm-up.
    #[serde(default)]
    pub joins: Vec<Join>,
    /// Whether slices may have a [rate](crate::SliceOrder::rate). Events at a rate must begin when they are due.
    /// Therefore, if this is set, the workers' threads may preempt the server's.
    #[serde(default)]
    pub paced_slices: bool,
    /// Whether to [record](crate::Noted) the distinct statements of the first connection's script.
    #[serde(default)]
    pub notes_statements: bool,
    /// What a lost connection does to the load.
    #[serde(default)]
    pub lost_connections: LostConnections,
    /// The traffic to send in place of a script's events.
    #[serde(default)]
    pub replay: Option<Replay>,
    /// The job's part of a load that several load processes share; `None` if the job is the whole load.
    #[serde(default)]
    pub share: Option<Share>,
    /// Whether the load waits for [`Order::Begin`](crate::Order::Begin) after it has opened its connections.
    #[serde(default)]
    pub awaits_begin: bool,
    /// Whether the job is only checked against its script. The job then ends when the script's top level has run and
    /// its options have been read.
    #[serde(default)]
    pub checks_only: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    #[serde(default = "one_second")]
    pub tick_seconds: f64,
    /// Settings that few jobs change.
    #[serde(default)]
    pub tuning: Tuning,
}

impl Job {
    /// Whether the load continues when its connections are lost.
    pub(crate) fn reconnects(&self) -> bool {
        self.lost_connections == LostConnections::Reconnect
    }

    /// A closed-loop job of one connection, without limits and with seed 0. Callers change it as they need.
    pub fn new(target: Target, script: Script, command: impl Into<String>) -> Self {
        Self {
            target,
            script,
            command: command.into(),
            options: BTreeMap::new(),
            connections: 1,
            scheduler: Scheduler::Auto,
            io: IoMethod::Auto,
            loops: None,
            warmup_seconds: 0.0,
            warmup_seconds_max: 0.0,
            seconds: None,
            events: None,
            rate: None,
            sliced: false,
            joins: Vec::new(),
            paced_slices: false,
            notes_statements: false,
            lost_connections: LostConnections::Fail,
            replay: None,
            share: None,
            awaits_begin: false,
            checks_only: false,
            seed: 0,
            tick_seconds: one_second(),
            tuning: Tuning::default(),
        }
    }

    /// Divides the connections and events of the load among processes, which [await](Self::awaits_begin) an order to
    /// begin. Each process gets the thread ids, random numbers and share of the rate that its connections would have in
    /// a single process. There must be at least one connection for each process. If the number of events is limited,
    /// there must also be at least one event for each process.
    #[must_use]
    pub fn divided(&self, processes: u32) -> Vec<Self> {
        let bound = |number: u32, whole: u64| whole * u64::from(number) / u64::from(processes);
        let connections = |number| bound(number, u64::from(self.connections)) as u32;
        let part = |number| Self {
            connections: connections(number + 1) - connections(number),
            events: self.events.map(|events| bound(number + 1, events) - bound(number, events)),
            notes_statements: self.notes_statements && number == 0,
            share: Some(Share {
                number,
                of: processes,
                tids_from: connections(number),
                connections: self.connections,
            }),
            awaits_begin: true,
            ..self.clone()
        };
        (0..processes).map(part).collect()
    }

    /// The command line that the script sees.
    pub(crate) fn arguments(&self) -> Vec<String> {
        if self.tuning.arguments.is_empty() {
            return vec![self.script.name.clone(), self.command.clone()];
        }
        self.tuning.arguments.clone()
    }

    /// The thread id of the job's first connection.
    pub(crate) fn tids_from(&self) -> u32 {
        self.share.map_or(0, |share| share.tids_from)
    }

    /// Number of connections of the whole load.
    pub(crate) fn connections_in_all(&self) -> u32 {
        self.share.map_or(self.connections, |share| share.connections).max(1)
    }

    /// The share of the load's rate that belongs to the given number of the load's connections.
    pub(crate) fn rate_share(&self, connections: u32) -> f64 {
        f64::from(connections) / f64::from(self.connections_in_all())
    }

    /// Time at which a connection joins, in ns since measuring began; `None` if the connection begins at once.
    pub(crate) fn joins_at_ns(&self, tid: u32) -> Option<u64> {
        let join = self.joins.iter().find(|join| join.connections > tid)?;
        Some((join.at_seconds * 1e9) as u64)
    }

    /// Whether the load begins before the measured time.
    pub fn warms_up(&self) -> bool {
        self.warmup_seconds > 0.0 || self.warmup_seconds_max > 0.0
    }

    /// Whether events wait until they are due: at a rate, after a think time, or, in a replay with a pace, at the
    /// logged times.
    pub(crate) fn is_paced(&self) -> bool {
        let has_pace = self.replay.as_ref().is_some_and(|replay| replay.pace.is_some());
        self.rate.is_some() || self.tuning.think_seconds > 0.0 || has_pace
    }

    /// Whether each connection needs a thread of its own. This is the case if its calls block, or if calls must be
    /// logged in order.
    pub(crate) fn needs_threads(&self) -> bool {
        self.target.driver == Protocol::Sqlite || self.target.dry_run || self.tuning.trace
    }
}

/// The part of a load that one of several load processes executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Number of the process, from 0.
    pub number: u32,
    /// Number of processes.
    pub of: u32,
    /// Thread id of the process's first connection.
    pub tids_from: u32,
    /// Number of connections of the whole load.
    pub connections: u32,
}

/// A point in time at which further connections begin to run events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// Seconds since measuring began.
    pub at_seconds: f64,
    /// Number of connections that run events from that time on, including those that began earlier. In the last entry,
    /// this is the number of all connections.
    pub connections: u32,
}

/// Settings that few jobs change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tuning {
    /// General options (`validate`, `debug`, `rand-type`) that scripts see in `sysbench.opt`, if their values do
    /// not follow from the job itself.
    pub globals: BTreeMap<String, String>,
    /// The command line that scripts see, without the program's name. If it is empty, scripts see the script's name and
    /// the command instead.
    pub arguments: Vec<String>,
    /// The version of sysbench that scripts see.
    pub sysbench_version: String,
    /// Whether every database call is logged as a line ([`Frame::Log`](crate::Frame::Log)).
    pub trace: bool,
    /// Time that a connection waits between its events (closed loop).
    pub think_seconds: f64,
    /// Time limit for opening all connections.
    pub start_seconds_max: f64,
    /// Time limit for events in flight at the end. Events that take longer are abandoned.
    pub end_seconds_max: f64,
    /// Whether the measured time ends with the last event in flight, as in sysbench. Otherwise it ends when
    /// no further event may begin.
    pub ends_with_last_event: bool,
    /// Checkpoints: times in seconds since measuring began. The tick that reaches a checkpoint has a
    /// [`checkpoint`](crate::Tick::checkpoint).
    pub checkpoints_seconds: Vec<f64>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            globals: BTreeMap::new(),
            arguments: Vec::new(),
            sysbench_version: "1.0.20".to_owned(),
            trace: false,
            think_seconds: 0.0,
            start_seconds_max: 30.0,
            end_seconds_max: 10.0,
            ends_with_last_event: false,
            checkpoints_seconds: Vec::new(),
        }
    }
}

fn yes() -> bool {
    true
}

fn one_second() -> f64 {
    1.0
}

/// The database under load.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub driver: Protocol,
    /// The addresses of the database. Each new connection uses the next address, and after the last one the first
    /// again.
    pub addresses: Vec<Address>,
    #[serde(default)]
    pub user: String,
    /// Password in clear text. A job is passed through a pipe and never stored.
    #[serde(default)]
    pub password: String,
    /// Name of the database; empty for SQLite.
    #[serde(default)]
    pub database: String,
    #[serde(default)]
    pub tls: Tls,
    /// What the client may send to a server that has not proven its identity.
    #[serde(default)]
    pub trust: Trust,
    /// Time limit in seconds for a server to accept a connection. The login after that has the same limit. If this is
    /// `None`, [`Tuning::start_seconds_max`] limits all connections together.
    #[serde(default)]
    pub connect_seconds_max: Option<f64>,
    /// How MySQL's packets may be compressed.
    #[serde(default)]
    pub compression: Compression,
    /// Whether MySQL's servers describe the columns of each result.
    #[serde(default)]
    pub metadata: Metadata,
    /// Whether statements are prepared on the server. Otherwise they are sent as text (`--db-ps-mode=disable`).
    #[serde(default = "yes")]
    pub prepared_statements: bool,
    /// Whether nothing is sent, and every statement is answered at once. This measures the cost of the script.
    #[serde(default)]
    pub dry_run: bool,
    /// Statements that each new connection executes first (SQLite pragmas, session variables).
    #[serde(default)]
    pub on_connect: Vec<String>,
    /// Errors after which an event is run again, as error numbers or SQL states, or `all`; `None` for the driver's
    /// defaults (deadlocks, lock timeouts and the like).
    #[serde(default)]
    pub ignore_errors: Option<Vec<String>>,
    /// Collects the names of the tables that loads create and change; `None` if the names are not needed.
    #[serde(default)]
    pub changed_names: Option<ChangedNames>,
}

impl Target {
    /// A database without account or encryption. Callers change it as they need.
    pub fn new(driver: Protocol, addresses: Vec<Address>) -> Self {
        Self {
            driver,
            addresses,
            user: String::new(),
            password: String::new(),
            database: String::new(),
            tls: Tls::default(),
            trust: Trust::default(),
            connect_seconds_max: None,
            compression: Compression::default(),
            metadata: Metadata::Full,
            prepared_statements: true,
            dry_run: false,
            on_connect: Vec::new(),
            ignore_errors: None,
            changed_names: None,
        }
    }
}

/// Prints everything but the password.
impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target")
            .field("driver", &self.driver)
            .field("addresses", &self.addresses)
            .field("user", &self.user)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

/// Compression algorithms of MySQL's protocol, as in the option `--compression-algorithms` of MySQL's clients. By
/// default, packets are not compressed. If both algorithms are allowed and the server has both, zlib is used. It is
/// an error if the server has none of the allowed algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compression {
    pub zlib: bool,
    /// Zstandard, level 3 (MySQL since 8.0.18).
    pub zstd: bool,
    pub uncompressed: bool,
}

impl Default for Compression {
    fn default() -> Self {
        Self { zlib: false, zstd: false, uncompressed: true }
    }
}

/// The protocol of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// MySQL, MariaDB and their forks.
    Mysql,
    Pgsql,
    /// SQLite, in this process.
    Sqlite,
}

impl Protocol {
    /// The name that scripts see (`sysbench.sql.driver():name()`).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Pgsql => "pgsql",
            Self::Sqlite => "sqlite",
        }
    }
}

/// The address of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Address {
    Unix(PathBuf),
    /// A host and port.
    Tcp {
        host: String,
        port: u16,
    },
    /// Several addresses. Each new connection tries them in order, and uses the first one that accepts it.
    #[serde(rename = "first_of")]
    FirstOf(Vec<Address>),
    /// A SQLite database file.
    File(PathBuf),
}

impl Address {
    /// The paths of the address's sockets and files.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Unix(path) | Self::File(path) => vec![path],
            Self::Tcp { .. } => Vec::new(),
            Self::FirstOf(list) => list.iter().flat_map(Self::paths).collect(),
        }
    }
}

/// A workload script, and the folders of the modules that it may `require`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Name for messages: a path or a built-in's name.
    pub name: String,
    pub source: String,
    /// Folders in which `require` looks, before the built-in workloads.
    #[serde(default)]
    pub search_path: Vec<PathBuf>,
}

/// How connections are scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// Event loops if the driver can wait without blocking, and threads otherwise.
    #[default]
    Auto,
    /// Coroutines on event loops.
    Event,
    /// A thread for each connection.
    Thread,
}

/// How an event loop moves bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IoMethod {
    /// The cheapest method that this kernel allows.
    #[default]
    Auto,
    /// Epoll reports which sockets are ready, and plain system calls then move the bytes.
    Epoll,
    /// The kernel moves the bytes and reports completions (`io_uring`).
    Uring,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_divided_whole() {
        let script = Script { name: String::new(), source: String::new(), search_path: Vec::new() };
        let target = Target::new(Protocol::Mysql, Vec::new());
        let job = Job { connections: 8, events: Some(10), ..Job::new(target, script, "run") };
        let parts = job.divided(3);
        let figures = |part: &Job| (part.tids_from(), part.connections, part.events);
        let all: Vec<_> = parts.iter().map(figures).collect();
        assert_eq!(all, [(0, 2, Some(3)), (2, 3, Some(3)), (5, 3, Some(4))]);
        let shares: f64 = parts.iter().map(|part| part.rate_share(part.connections)).sum();
        assert!((shares - 1.0).abs() < 1e-12, "{shares}");
        assert!((job.rate_share(2) - 0.25).abs() < 1e-12);
    }
}
