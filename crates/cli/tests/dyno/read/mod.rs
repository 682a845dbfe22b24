//! What is made of results files: reports, comparisons, histories, prices, exports and pages.

mod compare;
mod cost;
mod dataset;
mod export;
mod otava;
mod outside;
pub(crate) mod pages;
mod results;
mod serve;

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [
        pages::tests(),
        results::tests(),
        outside::tests(),
        serve::tests(),
        compare::tests(),
        cost::tests(),
        export::tests(),
        otava::tests(),
        dataset::tests(),
    ];
    tests.into_iter().flatten().collect()
}
