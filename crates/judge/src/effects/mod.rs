//! Effects of factors, rungs, hosts, numbers of clients and events; the lag of replicas.

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
