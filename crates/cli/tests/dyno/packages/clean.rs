//! A clean system of this machine's release of Debian, as an image of a container.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_engine::Cache;
use tempfile::TempDir;

use super::succeed;
use crate::engine::containers::images::{Images, is_on_path};

pub(super) const CLEAN: &str = "localhost/dyno-clean:1";
/// Limits of the image's containers. They are no higher than those of most users, because podman may not grant more.
pub(super) const LIMITS: [&str; 2] = ["--ulimit=nofile=4096:4096", "--ulimit=nproc=8192:8192"];

/// A store with the image, or the reason why there is none. The image has Debian's package manager with its
/// dependencies, and the packages `packages`.
pub(super) fn clean_system(packages: &[&str]) -> Result<Images, String> {
    let tools = ["podman", "mmdebstrap", "dpkg-deb"];
    if let Some(missing) = tools.into_iter().find(|tool| !is_on_path(tool)) {
        return Err(format!("{missing} is not installed"));
    }
    let files = files_of_debian(packages)?;
    let images = Images::new()?;
    images.podman(&["import", "--quiet", &files.display().to_string(), CLEAN])?;
    images.podman(&[&["run", "--rm", "--network=none"], &LIMITS[..], &[CLEAN, "true"]].concat())?;
    Ok(images)
}

/// An archive with the files of this machine's release of Debian, kept in Dyno's cache.
fn files_of_debian(packages: &[&str]) -> Result<PathBuf, String> {
    let release = fs::read_to_string("/etc/os-release").map_err(|error| error.to_string())?;
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.ok_or("this system has no release of Debian")?;
    let tools = Cache::default_location().root().join("tools");
    let place = tools.join([&["clean", codename][..], packages].concat().join("-"));
    let archive = place.join("files.tar");
    if archive.exists() {
        return Ok(archive);
    }
    fs::create_dir_all(&tools).map_err(|error| error.to_string())?;
    let folder = TempDir::with_prefix_in("clean-", &tools).map_err(|error| error.to_string())?;
    // apt gets this machine's settings of transfers, such as proxies.
    let settings = folder.path().join("apt.conf");
    let all = succeed(Command::new("apt-config").arg("dump"));
    let of_transfers: Vec<&str> = all.lines().filter(|line| line.starts_with("Acquire::")).collect();
    fs::write(&settings, of_transfers.join("\n")).map_err(|error| error.to_string())?;
    let sources = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"].into_iter();
    let partial = folder.path().join("files.tar");
    let made = Command::new("mmdebstrap")
        .args(["--quiet", "--variant=apt"])
        .args((!packages.is_empty()).then(|| format!("--include={}", packages.join(","))))
        .arg("--aptopt")
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
