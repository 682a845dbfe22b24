//! Clients of the load: their work, and what they know.

pub(crate) mod client;
pub(crate) mod contents;
pub(crate) mod ledger;
pub(crate) mod session;
