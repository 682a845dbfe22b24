//! Servers that Dyno starts: processes, logins, shutdown.

pub(crate) mod access;
pub(crate) mod connect;
pub(crate) mod drain;
pub(crate) mod running;
pub(crate) mod server;
pub(crate) mod server_process;
