//! The catalogue, fetching, starting and stopping of database servers.
//!
//! The [`Catalogue`] lists engines, [`fetch`] brings one into the [`Cache`], [`start`] starts a
//! server that ends with this process, and [`Running`] has servers that outlive it.
//!
//! # Why
//!
//! - Servers cannot outlive a run. A thread that lives as long as the process starts them with a parent-death signal
//!   (`spawn.rs`). A killed run leaves an unlocked lock file. The next start finds it and removes what is left.
//! - The tool manages a container, and Dyno manages its process. `podman run` and `docker run` have no option that puts a process
//!   into existing groups. So a shell in the container waits until Dyno has moved its process. Then it becomes the server.
//!   Folders have the same paths inside and outside. A parent-death signal does not pass through the tool. So a shell beside the
//!   server reads a pipe from Dyno, and ends the server when the pipe ends.
//! - A snapshot is verified by metadata and a sample of its contents. Reading all of it would cost as much as copying
//!   it, and engines have their own checksums of pages. One rename puts a snapshot in place, and its users hold a
//!   shared lock on its folder. So there is no list that could be out of date.
//! - A reading of counters is a row of numbers. Each counter has a fixed place in the row, and its name is stored once.
//!   A later reading only compares the name with the last one in that place. Servers do not say which numbers are
//!   gauges, so Dyno has a list.

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
    DataFolderError, DumpError, UpgradeError, UpgradeWay, check_data_folder, execute_file, has_pg_upgrade,
    load_dump, start_upgraded, upgrade_path,
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
