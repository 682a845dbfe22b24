//! Engines and systems: versions from several sources, servers in containers, and systems of several servers.

pub(crate) mod containers;
mod crash;
mod engines;
mod precious;
mod remote;
mod settings;
mod stacks;
mod topologies;
mod upstream;
