//! The environment of servers. Only two of its variables come from this process's environment.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The variables of this process that a server gets: the search path of programs, and the time zone.
const PASSED: [&str; 2] = ["PATH", "TZ"];

/// Restricts a command to the environment of servers. Messages are in English, because Dyno searches logs for the
/// system's messages.
pub(crate) fn restrict(command: &mut Command) {
    let passed = PASSED.into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
    command.env_clear().envs(passed.collect::<Vec<(&str, OsString)>>()).env("LC_ALL", "C");
}

/// Sets a command's home folder and its folder of temporary files, `HOME` and `TMPDIR`, to `folder`.
pub(crate) fn settle(command: &mut Command, folder: &Path) {
    command.env("HOME", folder).env("TMPDIR", folder);
}
