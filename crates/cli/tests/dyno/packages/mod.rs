//! Packages of the tested program, as the scripts in `packaging/` make them: installed and run in clean places.

mod action;
mod clean;
mod debian;
mod prefix;
mod published;
mod release;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A whole comparison in a second: a shortened quickstart. It needs no server.
const SHORT_RUN: &str = "run quickstart --rounds 1 --scale 0.01 --seconds 0.05 --no-html";

/// The folder of this workspace.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the folder `packaging`.
fn packaging(name: &str) -> PathBuf {
    top().join("packaging").join(name)
}

/// Runs a command and returns its output.
///
/// # Panics
/// The command fails.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}: {printed}{told}");
    printed
}

/// A copy of the program without debug information, like the program that is distributed.
fn stripped(folder: &Path) -> PathBuf {
    let program = folder.join("stripped");
    succeed(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_dyno")));
    program
}

/// Runs a script of the folder `packaging` on the program, in an empty folder, and returns the package.
fn made_by(script: &str, options: &[&str], folder: &Path) -> PathBuf {
    let packages = folder.join("packages");
    succeed(Command::new(packaging(script)).arg(stripped(folder)).arg(&packages).args(options));
    let made: Vec<PathBuf> = fs::read_dir(&packages).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [package] = &made[..] else { panic!("{script} made {made:?}") };
    package.clone()
}

fn version(program: &Path) -> String {
    succeed(Command::new(program).arg("--version"))
}
