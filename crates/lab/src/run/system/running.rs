//! The interface of a running system.

use std::path::Path;
use std::time::Duration;

use dyno_engine::{Counters, DrainLimits, DrainProgress, DrainReport, Family, Topology};
use dyno_host::ReadBack;
use dyno_load::{Address, Target};

use crate::plan::Endpoint;
use crate::run::error::SystemError;
use crate::run::record::Work;

/// A running system.
pub(crate) trait RunningSystem: Send {
    /// The address for the load.
    fn target(&self) -> Target;
    /// The address for a load at one of its endpoints: of its pooler, if it has one. A system without replicas has one
    /// endpoint.
    fn target_at(&self, _endpoint: Endpoint) -> Target {
        self.target()
    }
    /// The process of its connection pooler.
    fn pooler(&self) -> Option<u32> {
        None
    }
    /// Its servers, if it has replicas.
    fn topology(&self) -> Option<Topology> {
        None
    }
    /// The address for loads from other hosts; `None` if they cannot reach it.
    fn network_address(&self) -> Option<Address> {
        None
    }
    /// The RSA key (PEM) of a server that Dyno started, by which other hosts recognise it.
    fn public_key(&self) -> Option<String> {
        None
    }
    /// Its processes, for measuring its CPU and I/O.
    fn work(&self) -> Work;
    /// Its family, if Dyno started it.
    fn family(&self) -> Option<Family> {
        None
    }
    /// Its data folder, if known.
    fn data(&self) -> Option<&Path>;
    /// Its version, as the server reports it.
    fn version(&self) -> String;
    /// The encryption of connections over a network: version and cipher of TLS, or `none`. `None` if the server is
    /// not reached over a network.
    fn encryption(&self) -> Option<String> {
        None
    }
    /// The image of its server, by name and digest; `None` for a server without a container, or one that Dyno did
    /// not start.
    fn image(&self) -> Option<String> {
        None
    }
    /// All variables with their effective values.
    fn variables(&self) -> Result<Vec<(String, String)>, SystemError>;
    /// Whether its process is alive.
    fn is_alive(&self) -> bool;
    /// Whether it answers a statement of a new connection within a time.
    fn answers(&self, patience: Duration) -> bool;
    /// The limit that it reached: the kernel killed a process for lack of memory, or a volume is full. `None` if
    /// neither happened, or if it is unknown.
    fn met_limit(&self) -> Option<String> {
        None
    }
    /// Allows a load, which drops tables, to begin. An error if it could drop tables that Dyno did not make.
    fn begin_load(&self) -> Result<(), SystemError> {
        Ok(())
    }
    /// The last lines of its log.
    fn log_tail(&self) -> String;
    /// A reader of its counters; `None` if it has no counters or refuses.
    fn counters(&self) -> Option<Counters>;
    /// Waits until its pending writes are done.
    fn drain(
        &self,
        limits: &DrainLimits<'_>,
        progress: &mut dyn FnMut(DrainProgress<'_>),
    ) -> Result<DrainReport, SystemError>;
    /// Reads every table and index once, into its caches as far as they fit.
    fn read_tables(&self) -> Result<(), SystemError>;
    /// Reads its log into the page cache, if it overwrites the log through the page cache.
    fn read_log(&self) -> Result<(), SystemError> {
        Ok(())
    }
    /// Switches its I/O limits on, or off for work that is not measured.
    fn limit_io(&self, limited: bool) -> Result<(), SystemError>;
    /// Makes each request to its disk take at least a time, or the planned time again if that is `None`. Returns false
    /// if its confinement has no latency.
    fn delay_disk(&self, _latency: Option<Duration>) -> bool {
        false
    }
    /// Its limits, read back from the kernel; `None` if it has no limits, or Dyno did not start it.
    fn limits(&self) -> Option<ReadBack> {
        None
    }
    /// Kills all its processes at once. Does nothing if Dyno did not start it, or if it is in the load process.
    fn kill(&self) {}
    /// Restarts it on the same data, after killing remaining processes.
    fn restart(&mut self) -> Result<(), SystemError>;
    /// Restarts it on the same address, so that the connections of a load find it again.
    fn restart_in_place(&mut self) -> Result<(), SystemError> {
        self.restart()
    }
    /// Shuts it down so that its data can be copied.
    fn shut_down_cleanly(&mut self) -> Result<(), SystemError>;

    /// Shuts it down cleanly and starts it again on the same data.
    fn restart_cleanly(&mut self) -> Result<(), SystemError> {
        self.shut_down_cleanly()?;
        self.restart()
    }
}
