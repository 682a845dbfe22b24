//! The Debian package in a clean system, and the container image that is made from the package and that system. If
//! a clean system cannot be made, this test is ignored with the reason. With `DYNO_REQUIRE_CONTAINERS=1` it fails
//! instead.

use std::path::Path;
use std::process::Command;

use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use tempfile::TempDir;

use super::clean::{CLEAN, clean_system};
use super::{SHORT_RUN, made_by, packaging, succeed};
use crate::engine::containers::images::{Images, is_on_path};
use crate::engine::containers::lacking;

const IMAGE: &str = "localhost/dyno-packaged:1";
/// Options of containers: no network, and no higher limits of files and processes than podman's user may grant.
const CONTAINER: [&str; 7] = [
    "run",
    "--rm",
    "--network=none",
    "--ulimit=nofile=512:512",
    "--ulimit=nproc=512:512",
    "--env=DYNO_COUNT_DISTURBED=1",
    "--env=DEBIAN_FRONTEND=noninteractive",
];

#[dyno_test(ignorable)]
fn the_package_runs_in_a_clean_system_and_as_an_image() -> Result<Completion, Failed> {
    let images = match linted_system() {
        Ok(images) => images,
        Err(reason) => return lacking(reason),
    };
    let folder = TempDir::new().unwrap();
    let package = made_by("deb.sh", &["-Zgzip", "-z1"], folder.path());
    the_package_meets_debians_policy(&package);
    the_package_installs_runs_and_goes(&images, &package);
    the_image_runs_without_root(&images, &package);
    Ok(Completion::Completed)
}

/// A store with the clean system, or the reason why there cannot be one. The linter is required too.
fn linted_system() -> Result<Images, String> {
    if !is_on_path("lintian") {
        return Err("lintian is not installed".to_owned());
    }
    clean_system(&[])
}

/// One finding of the linter is ignored: a new Debian package must name a bug report, which only Debian's developers
/// have.
fn the_package_meets_debians_policy(package: &Path) {
    let options =
        ["--fail-on=error,warning", "--suppress-tags=initial-upload-closes-no-bugs", "--allow-root"];
    succeed(Command::new("lintian").args(options).arg(package));
}

fn the_package_installs_runs_and_goes(images: &Images, package: &Path) {
    let script = format!(
        "set -e
         apt-get install -qq --yes /packages/*.deb > /dev/null
         dyno --version
         cd /tmp
         dyno {SHORT_RUN}
         ls /usr/share/man/man1/dyno-versus.1.gz /usr/share/bash-completion/completions/dyno
         apt-get purge -qq --yes dyno > /dev/null
         find /usr -name '*dyno*'"
    );
    let volume = format!("--volume={}:/packages:ro", package.parent().unwrap().display());
    let printed =
        images.podman(&[&CONTAINER[..], &[volume.as_str(), CLEAN, "sh", "-c", &script]].concat()).unwrap();
    let program = succeed(Command::new(env!("CARGO_BIN_EXE_dyno")).arg("--version"));
    assert_eq!(printed.lines().next(), Some(program.trim()), "{printed}");
    assert!(printed.contains("rollback") && printed.contains("wal"), "{printed}");
    // Nothing of the package remains.
    assert!(printed.ends_with("/usr/share/man/man1/dyno-versus.1.gz"), "{printed}");
}

fn the_image_runs_without_root(images: &Images, package: &Path) {
    let file = packaging("Containerfile").display().to_string();
    let base = format!("BASE={CLEAN}");
    let folder = package.parent().unwrap().display().to_string();
    let build = ["build", "--quiet", "--isolation=chroot", "--tag", IMAGE, "--file", &file];
    images.podman(&[&build[..], &["--build-arg", &base, "--build-arg", "TOOLS=", &folder]].concat()).unwrap();
    let account = images.podman(&[&CONTAINER[..], &["--entrypoint=id", IMAGE, "-un"]].concat());
    assert_eq!(account, Ok("dyno".to_owned()));
    let words: Vec<&str> = SHORT_RUN.split(' ').collect();
    let printed = images.podman(&[&CONTAINER[..], &[IMAGE], &words[..]].concat()).unwrap();
    assert!(printed.contains("rollback") && printed.contains("wal"), "{printed}");
}
