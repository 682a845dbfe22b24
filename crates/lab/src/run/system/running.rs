//! A system that is up, whatever keeps its data.

use std::path::Path;

use dyno_engine::{Counters, DrainLimits, DrainProgress, DrainReport};
use dyno_load::Target;

use crate::run::error::SystemError;
use crate::run::record::Work;

/// A system that is up and can be put under load.
pub(crate) trait RunningSystem {
    /// Where its load goes.
    fn target(&self) -> Target;
    /// Where it does its work, whose CPU and storage use is the system's own.
    fn work(&self) -> Work;
    /// The folder that holds its data; none where that is not known.
    fn data(&self) -> Option<&Path>;
    /// The engine's own word for its version.
    fn version(&self) -> String;
    /// Every setting with its effective value.
    fn variables(&self) -> Result<Vec<(String, String)>, SystemError>;
    /// Whether it is still there.
    fn is_alive(&self) -> bool;
    /// The last lines of its log.
    fn log_tail(&self) -> String;
    /// A reader of its counters; none if it has none, or lets nobody read them.
    fn counters(&self) -> Option<Counters>;
    /// Waits until its pending writes are done.
    fn drain(
        &self,
        limits: &DrainLimits<'_>,
        progress: &mut dyn FnMut(DrainProgress<'_>),
    ) -> Result<DrainReport, SystemError>;
    /// Reads every table and index once, so that they are in its caches as far as these are large enough.
    fn read_tables(&self) -> Result<(), SystemError>;
    /// Puts the limits of its I/O into force, or out of it for work that is not to be measured.
    fn limit_io(&self, limited: bool) -> Result<(), SystemError>;
    /// Starts it again on the same data, killing what is left of it.
    fn restart(&mut self) -> Result<(), SystemError>;
    /// Shuts it down so that its data can be copied.
    fn shut_down_cleanly(&mut self) -> Result<(), SystemError>;

    /// Shuts it down cleanly and starts it again on the same data.
    fn restart_cleanly(&mut self) -> Result<(), SystemError> {
        self.shut_down_cleanly()?;
        self.restart()
    }
}
