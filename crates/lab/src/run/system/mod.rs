//! Systems under test, with their loaded data: servers that Dyno starts, remote servers, and SQLite in the load
//! process.

mod foresee;
mod holds;
mod intent;
mod keeper;
mod loads;
mod local_server;
mod remote_server;
mod replicas;
mod running;
mod settle;
mod slot;
mod sqlite_file;
mod starter;
mod state;

pub use self::foresee::{Foreseen, Found, foresee};
pub(crate) use self::holds::Holds;
pub(crate) use self::loads::{Origin, foundation, initial_loads};
pub(crate) use self::local_server::start_options;
pub(crate) use self::running::RunningSystem;
pub(crate) use self::settle::settle;
pub(crate) use self::slot::SystemSlot;
pub use self::sqlite_file::sqlite_variables;
pub(crate) use self::starter::Starter;
pub(crate) use self::state::{Presence, SystemState};
