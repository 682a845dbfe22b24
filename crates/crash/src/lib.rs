//! Crashes a system under load, over and over, and looks after each recovery whether it kept what it had acknowledged.
//!
//! Clients note each transaction's fate as they saw it ([`Fate`](clients::ledger::Fate)). After a crash all rows are read, and
//! the fates are held against what is there. What may be lost is what the settings say ([`dyno_settings::Promise`]).

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
pub use options::{CLIENTS_MAX, COMMITS_MAX, CRASHES_MAX, CrashOptions, CrashedSystem, VOLUME_BYTES_MIN};
pub use report::{Crash, CrashReport, Losses, Verdict};
pub use run::{Observer, crash_test};
pub use subjects::sqlite::serve_sqlite;
