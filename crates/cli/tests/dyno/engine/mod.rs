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

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [
        containers::tests(),
        topologies::tests(),
        stacks::tests(),
        precious::tests(),
        engines::tests(),
        upstream::tests(),
        settings::tests(),
        crash::tests(),
        remote::tests(),
    ];
    tests.into_iter().flatten().collect()
}
