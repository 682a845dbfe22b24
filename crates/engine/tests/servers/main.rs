//! Real servers, from fetch to stop, and what must not be left of them.

mod confined;
mod counters;
mod detached;
mod draining;
mod fetching;
mod killed;
mod leftovers;
mod starting;

use std::process::ExitCode;

/// The engines that every machine is expected to be able to fetch; others are large.
const ENGINES: [&str; 3] = ["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"];
const LARGE_ENGINES: [&str; 1] = ["mysql@8.0.33"];

fn main() -> ExitCode {
    // Some tests kill a process that started or fetched something: this program in another role.
    if let Some(role) = killed::role() {
        return killed::play(&role);
    }
    let is_large_wanted = std::env::var_os("DYNO_LARGE_ENGINES").is_some_and(|value| value == "1");
    let large = if is_large_wanted { LARGE_ENGINES.as_slice() } else { &[] };
    let mut tests = fetching::tests();
    for engine in ENGINES.iter().chain(large) {
        tests.extend(starting::tests(engine));
        tests.extend(killed::tests(engine));
        tests.extend(detached::tests(engine));
        tests.extend(counters::tests(engine));
    }
    tests.extend(starting::myrocks_tests());
    tests.extend(counters::tests("mariadb@10.11/rocksdb"));
    tests.extend(counters::family_tests());
    tests.extend(draining::tests());
    tests.extend(confined::tests());
    dyno_engine::testing::main(tests)
}
