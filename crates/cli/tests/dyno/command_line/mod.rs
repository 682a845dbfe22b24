//! What a user types and reads: wrong usage, help, completions and manual pages.

mod help;
mod usage;

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    [usage::tests(), help::tests()].into_iter().flatten().collect()
}
