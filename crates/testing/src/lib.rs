//! Tests that register themselves.
//!
//! `#[dyno_test]` before a function makes the function a test. In parentheses, the attribute may name a *maker*: a
//! function that makes the test, or one test for each of several systems.
//!
//! ```ignore
//! #[dyno_test]
//! fn a_plan_with_a_mistake_is_refused() {}
//!
//! #[dyno_test(servers(&["mariadb@10.11", "postgres@18.4"]))]
//! fn a_killed_server_comes_back(server: &mut Server) {}
//! ```
//!
//! A maker gets the test's name and the function, and returns tests. The makers `plain` and `ignorable` are here. The
//! makers of tests on servers are in `dyno_engine::testing`, and a file may have makers of its own.
//!
//! # Why
//!
//! The tests of Rust's own harness cannot be left out at run time. Here, a test that lacks a server or a right is
//! reported as ignored, with the reason.

use std::env;
use std::fs::File;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

pub use dyno_testing_attribute::dyno_test;
#[doc(hidden)]
pub use inventory;
use libtest_mimic::Arguments;
pub use libtest_mimic::{Completion, Failed, Trial};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

/// A function with the attribute `#[dyno_test]`.
pub struct Registered {
    pub module: &'static str,
    pub name: &'static str,
    pub line: u32,
    /// Makes the tests of the function from its full name.
    pub trials: fn(&str) -> Vec<Trial>,
}

inventory::collect!(Registered);

/// Makes a test of a function that needs nothing. `#[dyno_test]` without parentheses uses this maker.
pub fn plain(name: &str, test: fn()) -> Vec<Trial> {
    let run = move || {
        test();
        Ok(())
    };
    vec![Trial::test(name, run)]
}

/// Makes a test of a function that may find out that it lacks something.
pub fn ignorable(name: &str, test: fn() -> Result<Completion, Failed>) -> Vec<Trial> {
    vec![Trial::ignorable_test(name, test)]
}

/// Runs the registered tests as `cargo test` expects. Runs four tests per core at once, because tests mostly wait for
/// servers, disks and timers. The tests of the modules in `first` begin first, in this order; those of other modules
/// follow.
///
/// # Panics
/// No folder can be made in the folder of temporary files.
pub fn main(first: &[&str]) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    arguments.test_threads.get_or_insert(4 * cores);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{}: {error}", env::temp_dir().display()));
    spread_folders(folder.path());
    tempfile::env::override_temp_dir(folder.path()).expect("it is set once");
    libtest_mimic::run(&arguments, tests(first)).exit_code()
}

/// The registered tests in order.
fn tests(first: &[&str]) -> Vec<Trial> {
    let mut registered: Vec<(&str, &Registered)> = inventory::iter::<Registered>
        .into_iter()
        .map(|test| (test.module.split_once("::").map_or("", |(_, inner)| inner), test))
        .collect();
    let position = |module: &str| {
        let top = module.split("::").next();
        first.iter().position(|first| top == Some(first)).unwrap_or(first.len())
    };
    registered.sort_by_key(|(module, test)| (position(module), *module, test.line));
    let trials = |(module, test): (&str, &Registered)| {
        let name = if module.is_empty() { test.name.to_owned() } else { format!("{module}::{}", test.name) };
        (test.trials)(&name)
    };
    registered.into_iter().flat_map(trials).collect()
}

/// Makes ext4 place each new folder inside this folder in a different block group. When ext4 makes a file, it skips
/// every inode that was deleted from the block group in the last minute. While other tests run, that takes a second for
/// the 1,300 files of a PostgreSQL server. With this flag, it takes a fifth of a second. File systems without block
/// groups refuse the flag, and do not need it.
fn spread_folders(folder: &Path) {
    let Ok(folder) = File::open(folder) else { return };
    if let Ok(flags) = ioctl_getflags(&folder) {
        let _ = ioctl_setflags(&folder, flags | IFlags::TOPDIR);
    }
}
