//! Python packages for tests, in Dyno's cache.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dyno_engine::Cache;
use libtest_mimic::{Completion, Failed};
use tempfile::TempDir;

/// The folder with these versions of packages (`duckdb==1.4.5`), named after the first one and fetched if
/// missing. Returns the reason if that fails. Dependencies that these tests do not use are left out.
pub(crate) fn packages(requirements: &[&str]) -> Result<PathBuf, String> {
    fetched(requirements, &["--no-deps"])
}

/// As [`packages`], for one package with all its dependencies.
pub(crate) fn package(requirement: &str) -> Result<PathBuf, String> {
    fetched(&[requirement], &[])
}

fn fetched(requirements: &[&str], options: &[&str]) -> Result<PathBuf, String> {
    let tools = Cache::default_location().root().join("tools");
    let place = tools.join(format!("python-{}", requirements[0].replace("==", "-")));
    if place.exists() {
        return Ok(place);
    }
    fs::create_dir_all(&tools).map_err(|error| error.to_string())?;
    let partial = TempDir::with_prefix_in("python-", &tools).map_err(|error| error.to_string())?;
    let installed = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(options)
        .arg("--target")
        .arg(partial.path())
        .args(requirements)
        .output()
        .map_err(|error| format!("python3 cannot be started ({error})"))?;
    if !installed.status.success() {
        return Err(String::from_utf8_lossy(&installed.stderr).trim().to_owned());
    }
    match fs::rename(partial.path(), &place) {
        // Another test fetched it first.
        Err(_) if place.exists() => Ok(place),
        renamed => renamed.map(|()| place).map_err(|error| error.to_string()),
    }
}

/// The result of a test without a fetched package: ignored, or failed if everything is required.
pub(crate) fn lacking(reason: String) -> Result<Completion, Failed> {
    match std::env::var_os("DYNO_REQUIRE_ENGINES") {
        Some(value) if value == "1" => Err(Failed::from(reason)),
        _ => Ok(Completion::ignored_with(reason)),
    }
}

/// Runs a script of the tests with `input` on standard input. Returns its standard output.
///
/// # Panics
/// The script fails.
pub(crate) fn run(script: &str, arguments: &[&str], packages: &Path, folder: &Path, input: &str) -> String {
    let mut child = Command::new("python3")
        .args(["-c", script])
        .args(arguments)
        .env("PYTHONPATH", packages)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}
