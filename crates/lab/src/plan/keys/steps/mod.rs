//! Keys of steps.

pub(in crate::plan) mod background;
pub(in crate::plan) mod command;
pub(in crate::plan) mod drivers;
pub(in crate::plan) mod event;
pub(in crate::plan) mod find;
pub(in crate::plan) mod measure;
pub(in crate::plan) mod queries;
pub(in crate::plan) mod slicing;
pub(in crate::plan) mod stacks;
pub(in crate::plan) mod step;
pub(in crate::plan) mod suite;
pub(in crate::plan) mod workload;
