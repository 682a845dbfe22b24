//! The interface to a running system.

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
    /// The address at which a load connects to the system.
    fn target(&self) -> Target;
    /// The address at which a load connects to one of the system's endpoints. If the system has a pooler, this is
    /// the pooler's address. A system without replicas has one endpoint.
    fn target_at(&self, _endpoint: Endpoint) -> Target {
        self.target()
    }
    /// The process of the system's connection pooler.
    fn pooler(&self) -> Option<u32> {
        None
    }
    /// The servers of the system, if it has replicas.
    fn topology(&self) -> Option<Topology> {
        None
    }
    /// The address for loads on other hosts; `None` if other hosts cannot reach the system.
    fn network_address(&self) -> Option<Address> {
        None
    }
    /// The RSA key (PEM) of a server that Dyno started. Other hosts recognise the server by this key.
    fn public_key(&self) -> Option<String> {
        None
    }
    /// Where the system's work is done, for measuring its CPU time and I/O.
    fn work(&self) -> Work;
    /// The engine family, if Dyno started the server.
    fn family(&self) -> Option<Family> {
        None
    }
    /// The data folder; `None` if it is unknown.
    fn data(&self) -> Option<&Path>;
    /// The version that the server reports.
    fn version(&self) -> String;
    /// How connections over a network are encrypted: version and cipher of TLS, or `none`. `None` if the server is
    /// not reached over a network.
    fn encryption(&self) -> Option<String> {
        None
    }
    /// The container image of the server, by name and digest. `None` if the server runs without a container, or if
    /// Dyno did not start it.
    fn image(&self) -> Option<String> {
        None
    }
    /// All variables with their effective values.
    fn variables(&self) -> Result<Vec<(String, String)>, SystemError>;
    /// Whether the server's process is alive.
    fn is_alive(&self) -> bool;
    /// Whether the system answers a statement on a new connection within `patience`.
    fn answers(&self, patience: Duration) -> bool;
    /// The limit that the system has reached: the kernel killed a process for lack of memory, or a volume is full.
    /// `None` if neither happened, or if this is unknown.
    fn met_limit(&self) -> Option<String> {
        None
    }
    /// Asks for permission to begin a load. Loads drop tables, so this is an error if the load could drop tables that
    /// Dyno did not make.
    fn begin_load(&self) -> Result<(), SystemError> {
        Ok(())
    }
    /// The last lines of the server's log.
    fn log_tail(&self) -> String;
    /// Returns a reader of the server's counters; `None` if the system has no counters or refuses to report them.
    fn counters(&self) -> Option<Counters>;
    /// Waits until the system's pending writes are done.
    fn drain(
        &self,
        limits: &DrainLimits<'_>,
        progress: &mut dyn FnMut(DrainProgress<'_>),
    ) -> Result<DrainReport, SystemError>;
    /// Reads every table and index once, so that the caches contain as much of them as fits.
    fn read_tables(&self) -> Result<(), SystemError>;
    /// Reads the log into the page cache, if the server overwrites its log through the page cache.
    fn read_log(&self) -> Result<(), SystemError> {
        Ok(())
    }
    /// Switches the system's I/O limits on or off. They are off during work that is not measured.
    fn limit_io(&self, limited: bool) -> Result<(), SystemError>;
    /// Makes each request to the system's disk take at least the given time, or the planned time if `None` is
    /// given. Returns false if the system's limits have no disk latency.
    fn delay_disk(&self, _latency: Option<Duration>) -> bool {
        false
    }
    /// The limits, as read back from the kernel. `None` if the system has no limits, or if Dyno did not start it.
    fn limits(&self) -> Option<ReadBack> {
        None
    }
    /// Kills all processes of the system at once. Does nothing if Dyno did not start the system, or if the system
    /// runs in the load process.
    fn kill(&self) {}
    /// Restarts the system on the same data. Processes that remain are killed first.
    fn restart(&mut self) -> Result<(), SystemError>;
    /// Restarts the system at the same address, so that a load's connections can find it again.
    fn restart_in_place(&mut self) -> Result<(), SystemError> {
        self.restart()
    }
    /// Shuts the system down so that its data can be copied.
    fn shut_down_cleanly(&mut self) -> Result<(), SystemError>;

    /// Shuts the system down cleanly, and starts it again on the same data.
    fn restart_cleanly(&mut self) -> Result<(), SystemError> {
        self.shut_down_cleanly()?;
        self.restart()
    }
}
