//! Copies the program and the plan to a host.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Output, Stdio};

use super::RemoteDyno;
use super::copies::Copies;
use super::host::ssh;
use crate::task::TaskCommand;
use dyno_printable::quote;

/// The paths of the program and the plan on a host, quoted for the host's shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub(super) program: String,
    pub(super) plan: String,
}

/// Returns what [`prepare`] would return, without contacting the host. Files that cannot be copied keep their own
/// names.
pub(super) fn expected(task: &TaskCommand, dyno: &RemoteDyno) -> Prepared {
    let word = |copies: Option<Result<Copies, String>>, name: &str| match copies {
        Some(Ok(copies)) => copies.first(),
        Some(Err(_)) | None => quote(name),
    };
    let program = match dyno {
        RemoteDyno::Copied => word(Some(Copies::of_file(Path::new(&task.program))), &task.program),
        RemoteDyno::At(path) => quote(path),
    };
    Prepared { program, plan: word(plan(task), &task.plan) }
}

/// Copies the program and the plan to the host if it lacks them. The error says in words why they cannot be copied.
pub(super) fn prepare(host: &str, task: &TaskCommand, dyno: &RemoteDyno) -> Result<Prepared, String> {
    let program = program(host, Path::new(&task.program), dyno)?;
    let plan = match plan(task) {
        Some(copies) => copy(host, &copies?)?,
        None => quote(&task.plan),
    };
    Ok(Prepared { program, plan })
}

/// Returns the path of the host's `dyno`, quoted for the host's shell. [`RemoteDyno::Copied`] is copied if the host
/// lacks it. An error says that the host's `dyno` cannot be run or has another version than the running one.
pub(super) fn program(host: &str, path: &Path, dyno: &RemoteDyno) -> Result<String, String> {
    let program = match dyno {
        RemoteDyno::Copied => copy(host, &Copies::of_file(path)?)?,
        RemoteDyno::At(path) => quote(path),
    };
    let told = run(host, &format!("{program} --version"), Stdio::null())?;
    let version = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    let ours = format!("dyno {}", env!("CARGO_PKG_VERSION"));
    // `dyno --version` may add the commit after the version, as in `dyno 1.2.3 (0123abc)`.
    if version.split(" (").next() != Some(&*ours) {
        return Err(format!("its dyno is `{version}`, this one is `{ours}`"));
    }
    Ok(program)
}

/// Returns the files that a plan needs on the host, or `None` for a built-in plan.
fn plan(task: &TaskCommand) -> Option<Result<Copies, String>> {
    let path = Path::new(&task.plan);
    let is_file = path.extension().is_some_and(|extension| extension == "toml");
    is_file.then(|| Copies::of_plan(path, &task.files))
}

/// Copies the files that the host lacks. Returns the path of the first file's copy, quoted for the host's shell.
fn copy(host: &str, copies: &Copies) -> Result<String, String> {
    for (path, word) in &copies.files {
        let told = run(host, &format!("test -f {word} || echo missing"), Stdio::null())?;
        if told.stdout.is_empty() {
            continue;
        }
        let unreadable = |error: io::Error| format!("{} cannot be read: {error}", path.display());
        let file = File::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        // The contents go to a temporary name first, and the file gets its own name when it is complete. Other
        // processes may copy the same file at the same time, and the remote shell cannot tell a broken connection
        // from the end of the file.
        let script = format!(
            "set -e; umask 077; to={word}; mkdir -p \"${{to%/*}}\"; cat > \"$to.$$\"; \
             test \"$(wc -c < \"$to.$$\")\" -eq {bytes} || {{ rm \"$to.$$\"; exit 1; }}; \
             chmod 700 \"$to.$$\"; mv \"$to.$$\" \"$to\""
        );
        run(host, &script, file.into())?;
    }
    Ok(copies.first())
}

/// Runs a script on a host to its end. The error is the last line of its output.
fn run(host: &str, script: &str, stdin: Stdio) -> Result<Output, String> {
    let output =
        ssh(host, script).stdin(stdin).output().map_err(|error| format!("ssh cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let last = told.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
    Err(last.unwrap_or_else(|| output.status.to_string()))
}
