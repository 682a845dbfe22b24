//! The keys of a plan, a file for each table or group of keys.

pub(in crate::plan) mod background;
pub(in crate::plan) mod claim;
pub(in crate::plan) mod confinement;
pub(in crate::plan) mod cores;
pub(in crate::plan) mod crash;
pub(in crate::plan) mod drivers;
pub(in crate::plan) mod find;
pub(in crate::plan) mod image;
pub(in crate::plan) mod ladder;
pub(in crate::plan) mod price;
pub(in crate::plan) mod queries;
pub(in crate::plan) mod rounds;
pub(in crate::plan) mod slicing;
pub(in crate::plan) mod stacks;
pub(in crate::plan) mod step;
pub(in crate::plan) mod suite;
pub(in crate::plan) mod sweep;
pub(in crate::plan) mod system;
