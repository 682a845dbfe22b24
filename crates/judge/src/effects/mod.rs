//! Effects of factors, rungs, hosts and numbers of clients.

pub(crate) mod hosts;
pub(crate) mod joins;
pub(crate) mod ladder;
pub(crate) mod scaling;
pub(crate) mod sensitivity;
