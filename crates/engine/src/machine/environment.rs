//! The environment of servers: a list, whatever this process has in its own.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// What a server gets of this process's environment: where programs are, and the time zone of the host.
const PASSED: [&str; 2] = ["PATH", "TZ"];

/// Leaves a command nothing of this process's environment but what servers get, with English messages: logs are searched for
/// those of the system.
pub(crate) fn restrict(command: &mut Command) {
    let passed = PASSED.into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
    command.env_clear().envs(passed.collect::<Vec<(&str, OsString)>>()).env("LC_ALL", "C");
}

/// Gives a command a folder of its own where programs look for their user's files and put temporary ones.
pub(crate) fn settle(command: &mut Command, folder: &Path) {
    command.env("HOME", folder).env("TMPDIR", folder);
}
