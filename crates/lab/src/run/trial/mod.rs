//! Runs one trial: prepares a system, applies a step's load, and records the measurements.

mod after;
mod beside;
mod drivers;
mod find;
mod finished;
mod hook;
mod life;
mod limits;
mod planned;
mod probe;
mod ready;
mod watch;
mod whole;

pub use self::beside::{ReplicaLag, TokenLag, measure_lag};
pub(crate) use self::finished::FinishedTrial;
pub(crate) use self::limits::{note_client_cpus, note_pinned};
pub(crate) use self::planned::PlannedTrial;
pub(crate) use self::watch::{TrialAbort, Watch, start_load};
