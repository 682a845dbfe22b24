//! One trial: prepares a system, applies a step's load, and records the measurements.

mod background;
mod beside;
mod crash;
mod drivers;
mod events;
mod find;
mod finished;
mod hook;
mod lag;
mod life;
mod limits;
mod planned;
mod probe;
mod query;
mod ready;
mod stacks;
mod statement_plans;
mod watch;
mod whole;

pub(crate) use self::finished::FinishedTrial;
pub(crate) use self::limits::{note_client_cpus, note_pinned};
pub(crate) use self::planned::PlannedTrial;
pub(crate) use self::watch::{TrialAbort, Watch, start_load};
