//! Keys of systems.

pub(in crate::plan) mod confinement;
pub(in crate::plan) mod data;
pub(in crate::plan) mod image;
pub(in crate::plan) mod ladder;
pub(in crate::plan) mod pooler;
pub(in crate::plan) mod price;
pub(in crate::plan) mod replication;
pub(in crate::plan) mod source;
pub(in crate::plan) mod sweep;
pub(in crate::plan) mod system;
