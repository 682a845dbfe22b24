//! The content of the cache: engines, data, homes of servers.

pub(crate) mod contents;
mod fingerprint;
pub(crate) mod home;
pub(crate) mod installation;
pub(crate) mod layout;
pub(crate) mod location;
pub(crate) mod scratch;
pub(crate) mod snapshot;
pub(crate) mod template;
