//! The effects of factors, rungs of ladders, hosts, numbers of clients, events, replicas and upgrades.

pub(crate) mod events;
pub(crate) mod family;
pub(crate) mod hosts;
pub(crate) mod joins;
pub(crate) mod ladder;
pub(crate) mod lags;
pub(crate) mod replays;
pub(crate) mod scaling;
pub(crate) mod sensitivity;
pub(crate) mod upgrade;
