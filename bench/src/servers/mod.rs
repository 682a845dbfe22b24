//! What reading and copying a server's state costs, how late replicas are, and what failovers lose.

pub(crate) mod counters;
pub(crate) mod failovers;
pub(crate) mod lag;
pub(crate) mod snapshot;
