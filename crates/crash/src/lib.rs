//! Crashes a system under load repeatedly, and checks after each recovery whether acknowledged commits were
//! lost.
//!
//! Clients record the fate of each transaction as they saw it ([`Fate`](clients::ledger::Fate)). After a crash all
//! rows are read and compared with the fates. The system's settings determine what may be lost
//! ([`dyno_settings::Promise`]).

mod check;
mod clients;
mod error;
mod load;
mod options;
mod report;
mod run;
mod subjects;

pub use clients::session::{Field, Session, SessionError};
pub use error::CrashError;
pub use options::{
    CLIENTS_MAX, COMMITS_MAX, CRASHES_MAX, CrashOptions, CrashedSystem, Failover, VOLUME_BYTES_MIN,
};
pub use report::{Crash, CrashReport, FailoverReport, Losses, Verdict};
pub use run::{Observer, crash_test, failover_test};
pub use subjects::sqlite::serve_sqlite;
