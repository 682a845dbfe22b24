//! Effects of factors, rungs, hosts, numbers of clients and events.

pub(crate) mod events;
pub(crate) mod hosts;
pub(crate) mod joins;
pub(crate) mod ladder;
pub(crate) mod replays;
pub(crate) mod scaling;
pub(crate) mod sensitivity;
pub(crate) mod upgrade;
