//! Code that several benchmarks share.

pub(crate) mod background;
pub(crate) mod child;
pub(crate) mod dyno;
pub(crate) mod goals;
pub(crate) mod pair;
pub(crate) mod plan_run;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod shape;
pub(crate) mod sysbench;
