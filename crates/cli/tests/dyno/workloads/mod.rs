//! What loads the servers: the load process, suites, benchmarks, and logged traffic.

mod drive;
mod load;
mod queries;
mod rates;
mod replays;
mod suites;
mod tpcc;
mod tpch;
mod traffic;
