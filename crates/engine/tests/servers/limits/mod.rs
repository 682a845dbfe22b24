//! What servers may use and do: confined and fenced servers.

pub(crate) mod confined;
pub(crate) mod fenced;
