//! Checks what must hold before a release is tagged.

use std::process::Command;

use dyno_testing::dyno_test;

use super::packaging;
use crate::bench::Ended;

#[dyno_test]
fn a_release_needs_a_dated_changelog() {
    let notes = |tag: &str| Ended::from(Command::new(packaging("notes.sh")).arg(tag).output().unwrap());
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let changelog = include_str!("../../../../../CHANGELOG.md");
    let heading = changelog.lines().find(|line| line.starts_with("## ")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    match heading.strip_prefix(&format!("## {version} (")) {
        Some("unreleased)") => {
            let told = notes(tag).with(1).stderr;
            assert!(told.contains(&format!("no heading '## {version} (YEAR-MONTH-DAY)'")), "{told}");
        }
        Some(_) => assert!(notes(tag).with(0).stdout.contains("- ")),
        None => panic!("the changelog begins with `{heading}`, and this is {version}"),
    }
    let other = notes("v0.0.1").with(1).stderr;
    assert!(other.contains("the tag is v0.0.1, and Cargo.toml has the version"), "{other}");
}
