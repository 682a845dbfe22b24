//! Reads the keys of a plan. There is a file for each table or group of keys.

pub(in crate::plan) mod claim;
pub(in crate::plan) mod cores;
pub(in crate::plan) mod crash;
pub(in crate::plan) mod loads;
pub(in crate::plan) mod rounds;
pub(in crate::plan) mod steps;
pub(in crate::plan) mod systems;
