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

/// One engine of each family, for tests of behaviour that all families must share.
const ENGINES: &[&str] = ALL_VERSIONS.split_at(3).0;
/// The other versions. A test uses this list if it also runs on the engines above, with named storage engines.
const OTHER_VERSIONS: &[&str] = ALL_VERSIONS.split_at(3).1;
/// All versions, for tests of behaviour that may differ between versions.
const ALL_VERSIONS: &[&str] = &[
    "mariadb@10.11",
    "mysql@5.6.24",
    "postgres@18.4",
    // The other versions follow.
    "mariadb@10.1.23",
    "mariadb@10.2.11",
    "mariadb@10.5",
    "mariadb@11.8",
    "mysql@9.7.4",
    "postgres@9.6.24",
    "postgres@14.23",
    "postgres@16.14",
    // These versions take long to fetch.
    "mariadb@11.4.5",
    "mysql@5.5.34",
    "mysql@5.6.14",
    "mysql@8.0.33",
];

/// The versions for which `is_wanted` returns true.
fn filtered(versions: &[&'static str], is_wanted: fn(&str) -> bool) -> &'static [&'static str] {
    let wanted: Vec<_> = versions.iter().copied().filter(|version| is_wanted(version)).collect();
    wanted.leak()
}

fn main() -> ExitCode {
    // Some tests kill a process that started or fetched something. That process runs this program in a role.
    if let Some(role) = killed::role() {
        return killed::play(&role);
    }
    // The tests of limits come last, because they measure rates, which other tests disturb.
    dyno_testing::main(&["lifecycle", "killed", "counters", "data", "groups", "own", "remote_tls"])
}
