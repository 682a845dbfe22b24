//! The rules, by topic.

mod builds;
mod confinement;
mod durability;
mod host;
mod in_force;
mod integrity;
mod logging;
mod memory;
mod semantics;
mod storage;
mod versions;

use super::rule::Rule;

pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [
        in_force::RULES,
        durability::RULES,
        integrity::RULES,
        semantics::RULES,
        memory::RULES,
        logging::RULES,
        versions::RULES,
        builds::RULES,
        storage::RULES,
        confinement::RULES,
        host::RULES,
    ]
    .into_iter()
    .flatten()
}
