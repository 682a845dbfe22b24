//! Effects of what a plan varies: factors, rungs, hosts, clients.

pub(crate) mod hosts;
pub(crate) mod joins;
pub(crate) mod ladder;
pub(crate) mod scaling;
pub(crate) mod sensitivity;
