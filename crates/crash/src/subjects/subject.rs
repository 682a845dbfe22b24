//! A system that can be crashed and started again.

use std::collections::BTreeMap;

use crate::clients::session::{Session, SessionError};
use crate::error::CrashError;

pub(crate) trait Subject: Sync {
    /// The version as the system reports it.
    fn version(&self) -> String;

    /// The system's variables with their effective values.
    fn variables(&self) -> Result<BTreeMap<String, String>, CrashError>;

    /// Makes everything that was committed so far survive any crash, regardless of the settings.
    fn settle(&mut self) -> Result<(), CrashError>;

    /// A session for the load.
    fn client(&self) -> Result<Box<dyn Session>, SessionError>;

    /// A session for examining the tables.
    fn session(&self) -> Result<Box<dyn Session>, SessionError>;

    /// Called while the load runs, right before the crash.
    fn before_crash(&self) -> Result<(), CrashError> {
        Ok(())
    }

    /// Kills all processes of the system, and waits until they have ended. Calls `killed` between the kill and the
    /// wait: at that time the processes execute nothing more, but they may still wait for a disk that the caller must
    /// release.
    fn crash(&self, killed: &mut dyn FnMut());

    /// Starts the system again, so that it recovers, or makes a replica the primary.
    fn recover(&mut self) -> Result<(), CrashError>;

    /// Makes the system check its tables, and returns the faults that it finds.
    fn faults(&self, session: &mut dyn Session) -> Result<Vec<String>, SessionError>;

    /// The last lines of the system's log, oldest first.
    fn log_tail(&self) -> Vec<String>;
}
