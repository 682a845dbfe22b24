//! Sets the version of the binary and how it is linked.

use std::env;
use std::path::Path;
use std::process::Command;

/// The first version of glibc that applies packed relocations.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    // Cargo runs this build script again when `Cargo.toml` changes. Without such a line, a change of any file of the
    // package would have this effect. Every package contains `Cargo.toml`.
    println!("cargo::rerun-if-changed=Cargo.toml");
    tell_version();
    pack_relocations();
}

/// Sets `DYNO_VERSION`: the version, followed by the commit if the files belong to a repository.
fn tell_version() {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // If the package was unpacked inside another repository, `Cargo.toml` is not tracked by that repository.
    let is_tracked = git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_some();
    let commit = git(&["rev-parse", "--short", "HEAD"]).filter(|_| is_tracked);
    println!(
        "cargo::rustc-env=DYNO_VERSION={}",
        match commit {
            Some(commit) => format!("{version} ({commit})"),
            None => version,
        }
    );
    // `HEAD` changes when another branch is checked out, and `logs/HEAD` changes with each commit on any branch.
    for name in ["HEAD", "logs/HEAD"] {
        let path =
            git(&["rev-parse", "--git-path", name]).filter(|path| is_tracked && Path::new(path).exists());
        if let Some(path) = path {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// Runs git in this folder and returns its output. `None` if git is missing or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// Packs the relocations of a binary for this host, if the host's glibc can apply packed relocations.
///
/// The binary has tens of thousands of pointers to relocate. Their records take three quarters of a megabyte in
/// each process, including the load process of each trial, because the dynamic linker reads them at the start. In
/// packed form (`DT_RELR`), they take a few kilobytes.
fn pack_relocations() {
    // The decision depends only on properties of the host that do not change.
    if env::var("TARGET") == env::var("HOST") && glibc().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The oldest version of glibc with which the binary must run: `DYNO_GLIBC`, or the version of this host. `None` if
/// the host has another C library.
fn glibc() -> Option<(u32, u32)> {
    println!("cargo::rerun-if-env-changed=DYNO_GLIBC");
    let version = env::var("DYNO_GLIBC").ok().or_else(glibc_of_host)?;
    let (major, minor) = version.split_once('.')?;
    // A third number may follow, as in 2.36.9.
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn glibc_of_host() -> Option<String> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().strip_prefix("glibc ")?.to_owned())
}
