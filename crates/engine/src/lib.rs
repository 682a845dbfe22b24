//! Lists, fetches, starts and stops database servers.
//!
//! The [`Catalogue`] lists engines, [`fetch`] brings one into the [`Cache`], [`start`] starts a server that ends with
//! this process, and [`Running`] starts, lists and stops servers that outlive this process.
//!
//! # Why
//!
//! - A server that a run starts cannot outlive the run. It is started with a parent-death signal, by a thread that
//!   lives as long as the process (`spawn.rs`). A killed run leaves an unlocked lock file. The next start finds that
//!   file and removes what the killed run has left.
//! - `podman` or `docker` manages a container, and Dyno manages the process in it. Neither `podman run` nor
//!   `docker run` can put a process into existing control groups. So a shell in the container waits until Dyno has
//!   moved the shell's process into these groups. Then the shell executes the server (`exec`). Folders have the same
//!   paths inside and outside the container. A parent-death signal does not pass through `podman` or `docker`. So a
//!   second shell beside the server reads a pipe from Dyno, and ends the server when the pipe ends.
//! - A snapshot is verified by metadata and a sample of its contents. Reading the whole snapshot would cost as much as
//!   copying it, and engines have their own checksums of pages. One rename puts a snapshot in place, and its users hold
//!   a shared lock on its folder. So Dyno keeps no list of snapshots that could be out of date.
//! - A reading of counters is a row of numbers. Each counter has a fixed index in the row, and its name is stored once.
//!   A later reading only compares each name with the earlier name at that index. Servers do not say which numbers are
//!   gauges, so Dyno has a list of gauges.

mod cache;
mod catalogue;
mod container;
mod data;
mod family;
mod machine;
mod named;
mod observe;
mod pooler;
mod remote;
mod replication;
mod source;
mod start;
#[cfg(feature = "testing")]
pub mod testing;

pub use cache::contents::{
    CacheItem, CacheItemKind, PruneLimits, bytes_of_runs, cache_contents, prune_cache,
};
pub use cache::home::remove_dead_homes;
pub use cache::installation::Installation;
pub use cache::location::Cache;
pub use cache::scratch::Scratch;
pub use cache::snapshot::{
    Copied, Damage, Found, Snapshot, SnapshotError, SnapshotKey, SnapshotParts, SnapshotSummary, Snapshots,
};
pub use catalogue::availability::Availability;
pub use catalogue::entry::{Entry, Family};
pub use catalogue::name::{NameError, SystemName};
pub use catalogue::upstream::UpstreamVersion;
pub use catalogue::{Catalogue, CatalogueError, EntryError};
pub use container::{ImageError, ImageName, fetch_image, pull_image};
pub use data::{
    DataFolderError, DumpError, StatementError, Statements, UpgradeError, UpgradeWay, check_data_folder,
    execute_file, has_pg_upgrade, load_dump, start_upgraded, upgrade_path,
};
pub use dyno_client::{Client, ClientError, ResultSet};
pub use machine::path_error::PathError;
pub use named::{EngineName, EngineNameError};
pub use observe::counters::{
    CounterChange, CounterId, CounterKind, CounterName, CounterReading, Counters, CountersError, Depth,
};
pub use observe::stack_tool::{StackToolError, stack_tool};
pub use observe::stacks::{FoldedStack, FoldedStacks, fold_stacks};
pub use pooler::{Pooler, PoolerProgram};
pub use remote::{Dsn, DsnError, Hold, HoldError, Left, Remote, RemoteAddress, RemoteError, Survey};
pub use replication::{
    ReplicaGuard, ReplicaStatus, Replication, ReplicationError, ReplicationMode, Role, TokenReader,
    TokenWriter, Topology, attach,
};
pub use source::add::{AddError, Added, add};
pub use source::fetch::fetch;
pub use source::{BasedirError, FetchError, Phase, Pin, Progress, UnpackError};
pub use start::access::{Access, DATABASE, HOST};
pub use start::connect::{Transport, connect};
pub use start::drain::{
    DrainAmount, DrainEnding, DrainError, DrainLimits, DrainProgress, DrainReport, Drained, drain,
    drain_sqlite,
};
pub use start::running::{Running, RunningError, RunningServer};
pub use start::server::{
    GaleraObstacle, RestartError, Server, ServerFault, ShutdownError, StartError, StartOptions, start,
};
