//! How the binary is linked.

use std::env;
use std::process::Command;

/// The first version of glibc that applies packed relocations.
const PACKED_SINCE: (u32, u32) = (2, 36);

/// Packs the relocations of a binary for this host, where its glibc can apply them.
///
/// The binary has tens of thousands of pointers to relocate, three quarters of a megabyte of records that the dynamic
/// linker reads in each process, a load process at each trial among them. Packed (`DT_RELR`) they take a few kilobytes.
fn main() {
    // Nothing that changes while a host stays what it is; this file has to be one that each package has.
    println!("cargo::rerun-if-changed=Cargo.toml");
    if env::var("TARGET") == env::var("HOST") && glibc().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this host's glibc; none where the C library is another.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    // A third number may follow, as in 2.36.9.
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
