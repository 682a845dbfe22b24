//! Clients that generate the load. They record how each of their transactions ended.

pub(crate) mod client;
pub(crate) mod contents;
pub(crate) mod ledger;
pub(crate) mod session;
