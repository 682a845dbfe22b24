//! Tests of real servers, from fetching a server to stopping it. The servers must leave no files or processes.

mod counters;
mod data;
mod groups;
mod killed;
mod leftovers;
mod lifecycle;
mod limits;
mod own;
mod remote_tls;

use std::process::ExitCode;

use self::data::{draining, given, snapshots, templates, warming};
use self::groups::{replication, stacks};
use self::lifecycle::{detached, faults, fetching, starting};
use self::limits::{confined, fenced};

/// One engine of each family, for tests of behaviour that all families must share.
const ENGINES: [&str; 3] = ["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"];
/// The other versions, for tests of behaviour that may differ between versions.
const VERSIONS: [&str; 8] = [
    "mariadb@10.1.23",
    "mariadb@10.2.11",
    "mariadb@10.5",
    "mariadb@11.8",
    "mysql@9.7.4",
    "postgres@9.6.24",
    "postgres@14.23",
    "postgres@16.14",
];
/// Versions that take long to fetch.
const LARGE_VERSIONS: [&str; 4] = ["mariadb@11.4.5", "mysql@5.5.34", "mysql@5.6.14", "mysql@8.0.33"];

fn main() -> ExitCode {
    // Some tests kill a process that started or fetched something. That process runs this program in a role.
    if let Some(role) = killed::role() {
        return killed::play(&role);
    }
    let is_large_wanted = std::env::var_os("DYNO_LARGE_ENGINES").is_some_and(|value| value == "1");
    let large = if is_large_wanted { LARGE_VERSIONS.as_slice() } else { &[] };
    let mut tests = fetching::tests();
    for engine in ENGINES {
        tests.extend(starting::tests(engine));
        tests.extend(killed::tests(engine));
        tests.extend(detached::tests(engine));
        tests.extend(templates::tests(engine));
        tests.extend(fenced::tests(engine));
        tests.extend(counters::tests(engine));
        tests.extend(warming::tests(engine));
        tests.extend(given::tests(engine));
        tests.extend(replication::tests(engine));
    }
    for version in VERSIONS.iter().chain(large) {
        tests.extend(starting::tests(version));
        tests.push(counters::never_backwards(version));
        tests.push(draining::drains(version));
        tests.push(snapshots::starts_on_data(version));
        tests.extend(replication::tests(version));
    }
    tests.push(replication::diverges());
    tests.push(replication::stays_away());
    tests.extend(stacks::tests());
    tests.extend(starting::myrocks_tests());
    tests.extend(own::tests());
    tests.extend(remote_tls::tests());
    tests.extend(faults::tests());
    tests.extend(counters::tests("mariadb@10.11/rocksdb"));
    tests.extend(counters::family_tests());
    tests.extend(draining::tests());
    for system in ["mariadb@10.11/innodb", "mariadb@10.11/rocksdb", "mysql@5.6.24", "postgres@18.4"] {
        tests.extend(snapshots::tests(system));
    }
    tests.extend(warming::log_tests("mysql@5.6.24"));
    tests.extend(confined::tests());
    dyno_engine::testing::main(tests)
}
