//! Python packages for tests, in Dyno's cache.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dyno_testing::{Completion, Failed};
use tempfile::TempDir;

use super::is_set;
use crate::cache::location::Cache;

/// The version of `DuckDB` that tests use.
pub const DUCKDB: &str = "duckdb==1.4.5";

/// The folder with some packages in given versions, such as `duckdb==1.4.5`. It has the name of the first package,
/// and is fetched if missing. Dependencies that tests do not use are left out.
///
/// # Errors
/// The packages are not available. The error says why.
pub fn packages(requirements: &[&str]) -> Result<PathBuf, String> {
    fetched(requirements, &["--no-deps"])
}

/// Like [`packages`], for one package with all its dependencies.
///
/// # Errors
/// The package is not available. The error says why.
pub fn package(requirement: &str) -> Result<PathBuf, String> {
    fetched(&[requirement], &[])
}

fn fetched(requirements: &[&str], options: &[&str]) -> Result<PathBuf, String> {
    let tools = Cache::default_location().tools();
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
        // Another test fetched the packages first.
        Err(_) if place.exists() => Ok(place),
        renamed => renamed.map(|()| place).map_err(|error| error.to_string()),
    }
}

/// The result of a test whose package cannot be fetched: ignored, or failed if `DYNO_REQUIRE_ENGINES=1` requires
/// all tests to run.
///
/// # Errors
/// All tests are required to run.
pub fn lacking(reason: String) -> Result<Completion, Failed> {
    if is_set("DYNO_REQUIRE_ENGINES") {
        return Err(Failed::from(reason));
    }
    Ok(Completion::ignored_with(reason))
}

/// Runs a script of the tests with `input` on standard input. Returns its standard output.
///
/// # Panics
/// The script fails.
pub fn run(script: &str, arguments: &[&str], packages: &Path, folder: &Path, input: &str) -> String {
    let mut child = Command::new("python3")
        .args(["-c", script])
        .args(arguments)
        .env("PYTHONPATH", packages)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads its input");
    let ended = child.wait_with_output().expect("its output");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).expect("a text")
}
