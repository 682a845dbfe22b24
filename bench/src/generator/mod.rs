//! The load generator compared with other programs: rates, latencies and CPU time.

pub(crate) mod client;
pub(crate) mod connections;
pub(crate) mod ibench;
pub(crate) mod kernels;
pub(crate) mod load;
pub(crate) mod outages;
pub(crate) mod pgbench;
pub(crate) mod prepare;
pub(crate) mod reconnect;
pub(crate) mod table;
pub(crate) mod tprocc;
pub(crate) mod traffic;
