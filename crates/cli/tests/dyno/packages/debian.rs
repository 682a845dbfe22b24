//! The Debian package in a clean system, and the container image that is made from both. If a clean system cannot be
//! made, this test is ignored with the reason; with `DYNO_REQUIRE_CONTAINERS=1` it fails instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_engine::Cache;
use libtest_mimic::{Completion, Trial};
use tempfile::TempDir;

use super::{SHORT_RUN, made_by, packaging, succeed};
use crate::containers::images::{Images, is_on_path};
use crate::containers::lacking;

/// An image with Debian's package manager and its dependencies.
const CLEAN: &str = "localhost/dyno-clean:1";
const IMAGE: &str = "localhost/dyno-packaged:1";
/// Options of containers: no network, and no more files and processes than podman's user may grant.
const CONTAINER: [&str; 7] = [
    "run",
    "--rm",
    "--network=none",
    "--ulimit=nofile=512:512",
    "--ulimit=nproc=512:512",
    "--env=DYNO_COUNT_DISTURBED=1",
    "--env=DEBIAN_FRONTEND=noninteractive",
];

pub(super) fn tests() -> Vec<Trial> {
    let name = "dyno::packages::debian::the_package_runs_in_a_clean_system_and_as_an_image";
    vec![Trial::ignorable_test(name, || match clean_system() {
        Ok(images) => {
            let folder = TempDir::new().unwrap();
            let package = made_by("deb.sh", &["-Zgzip", "-z1"], folder.path());
            the_package_meets_debians_policy(&package);
            the_package_installs_runs_and_goes(&images, &package);
            the_image_runs_without_root(&images, &package);
            Ok(Completion::Completed)
        }
        Err(reason) => lacking(reason),
    })]
}

/// A store with the clean system, or why there is none.
fn clean_system() -> Result<Images, String> {
    let tools = ["podman", "mmdebstrap", "dpkg-deb", "lintian"];
    if let Some(missing) = tools.into_iter().find(|tool| !is_on_path(tool)) {
        return Err(format!("{missing} is not installed"));
    }
    let files = files_of_debian()?;
    let images = Images::new()?;
    images.podman(&["import", "--quiet", &files.display().to_string(), CLEAN])?;
    images.podman(&[&CONTAINER[..], &[CLEAN, "true"]].concat())?;
    Ok(images)
}

/// An archive with the files of this machine's release of Debian, kept in Dyno's cache.
fn files_of_debian() -> Result<PathBuf, String> {
    let release = fs::read_to_string("/etc/os-release").map_err(|error| error.to_string())?;
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.ok_or("this system has no release of Debian")?;
    let tools = Cache::default_location().root().join("tools");
    let place = tools.join(format!("clean-{codename}"));
    let archive = place.join("files.tar");
    if archive.exists() {
        return Ok(archive);
    }
    fs::create_dir_all(&tools).map_err(|error| error.to_string())?;
    let folder = TempDir::with_prefix_in("clean-", &tools).map_err(|error| error.to_string())?;
    // The mirrors and proxies of this machine.
    let settings = folder.path().join("apt.conf");
    let all = succeed(Command::new("apt-config").arg("dump"));
    let of_transfers: Vec<&str> = all.lines().filter(|line| line.starts_with("Acquire::")).collect();
    fs::write(&settings, of_transfers.join("\n")).map_err(|error| error.to_string())?;
    let sources = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"].into_iter();
    let partial = folder.path().join("files.tar");
    let made = Command::new("mmdebstrap")
        .args(["--quiet", "--variant=apt", "--aptopt"])
        .args([settings.as_path(), Path::new(codename), partial.as_path()])
        .args(sources.filter(|path| fs::metadata(path).is_ok_and(|file| file.len() > 0)))
        .output()
        .map_err(|error| error.to_string())?;
    if !made.status.success() {
        return Err(format!("mmdebstrap failed: {}", String::from_utf8_lossy(&made.stderr).trim()));
    }
    fs::rename(folder.path(), place).map_err(|error| error.to_string())?;
    Ok(archive)
}

/// The linter also asks for the number of a bug report for a new Debian package. Only Debian's developers have one.
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
