//! Runs a plan's commands before and after trials.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dyno_load::{Address, Target};
use rustix::process::{Pid, Signal, kill_process_group};

use super::watch::Watch;

/// Time between two checks of a running command.
const GLANCE: Duration = Duration::from_millis(20);
/// Number of bytes from the end of a failed command's output that are shown.
const WORDS_BYTES: usize = 300;
/// Runs its first argument as a command. A second process of the same group reads from a pipe that only Dyno holds
/// open. When Dyno ends, this read returns, and the second process kills the group.
const LEASHED: &str =
    "exec 3<&0 </dev/null; (read _; kill -KILL 0) <&3 3<&- 2>/dev/null & exec 3<&-; exec /bin/sh -c \"$0\"";

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum HookError {
    /// The user stopped the run.
    Stopped,
    /// The command failed, or took too long.
    Failed(String),
}

/// Runs a command in a shell. The command's environment says how to reach the system: `DYNO_SYSTEM`, `DYNO_USER`,
/// `DYNO_PASSWORD`, `DYNO_DATABASE`, and either `DYNO_SOCKET`, or `DYNO_HOST` and `DYNO_PORT`, or `DYNO_FILE` for
/// SQLite.
pub(crate) fn run(text: &str, system: &str, target: &Target, watch: Watch<'_>) -> Result<(), HookError> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", LEASHED, text]).env("DYNO_SYSTEM", system).envs(whereabouts(target));
    // The command gets a separate process group, so that everything it starts can be ended with it. ^C then reaches
    // the command only through this process.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let failed = |reason: String| HookError::Failed(format!("`{text}` {reason}"));
    let mut child = command.spawn().map_err(|error| failed(format!("cannot be run: {error}")))?;
    let words = child.stderr.take().map(|mut pipe| {
        thread::spawn(move || {
            let mut words = Vec::new();
            // If the output cannot be read, the only effect is that the error message lacks it.
            let _ = pipe.read_to_end(&mut words);
            words
        })
    });
    let status = wait(&mut child, watch);
    end_group(&child);
    let words = words.and_then(|words| words.join().ok()).unwrap_or_default();
    match status? {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("failed ({status}){}", last_words(&words)))),
        Err(reason) => Err(failed(reason)),
    }
}

/// Waits for the command. Returns its exit status, or the reason why there is none.
fn wait(child: &mut Child, watch: Watch<'_>) -> Result<Result<std::process::ExitStatus, String>, HookError> {
    let started_at = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Ok(status)),
            Ok(None) => {}
            Err(error) => return Ok(Err(format!("cannot be waited for: {error}"))),
        }
        if watch.is_stopped() {
            end_group(child);
            let _ = child.wait();
            return Err(HookError::Stopped);
        }
        if started_at.elapsed() > watch.patience {
            end_group(child);
            let _ = child.wait();
            return Ok(Err(format!("took longer than {} s and was ended", watch.patience.as_secs())));
        }
        thread::sleep(GLANCE);
    }
}

/// Kills the processes that the command started and that still run.
fn end_group(child: &Child) {
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn whereabouts(target: &Target) -> Vec<(&'static str, String)> {
    let mut variables = vec![
        ("DYNO_USER", target.user.clone()),
        ("DYNO_PASSWORD", target.password.clone()),
        ("DYNO_DATABASE", target.database.clone()),
    ];
    match target.addresses.first() {
        Some(Address::Unix(path)) => variables.push(("DYNO_SOCKET", path.display().to_string())),
        Some(Address::File(path)) => variables.push(("DYNO_FILE", path.display().to_string())),
        Some(Address::Tcp { host, port }) => {
            variables.push(("DYNO_HOST", host.clone()));
            variables.push(("DYNO_PORT", port.to_string()));
        }
        // The systems of a plan have a single address, so this does not occur.
        Some(Address::FirstOf(_)) | None => {}
    }
    variables
}

/// Returns the end of a command's output, on one line.
fn last_words(words: &[u8]) -> String {
    let tail = &words[words.len().saturating_sub(WORDS_BYTES)..];
    let tail = String::from_utf8_lossy(tail);
    let line = tail.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { String::new() } else { format!(": {line}") }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;

    use dyno_load::Protocol;

    use super::*;

    fn run_for(text: &str, patience: Duration, stop: bool) -> Result<(), HookError> {
        let target = Target::new(Protocol::Sqlite, vec![Address::File(PathBuf::from("/data/x.db"))]);
        run(text, "wal", &target, Watch { stop: &AtomicBool::new(stop), patience })
    }

    fn failure(text: &str) -> String {
        match run_for(text, Duration::from_secs(20), false) {
            Err(HookError::Failed(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_learns_where_the_system_is() {
        let asks = "test \"$DYNO_SYSTEM $DYNO_FILE\" = 'wal /data/x.db'";
        assert!(run_for(asks, Duration::from_secs(20), false).is_ok());
    }

    #[test]
    fn a_command_that_fails_is_quoted_with_its_last_words() {
        let message = failure("echo no such thing >&2; exit 3");
        assert_eq!(message, "`echo no such thing >&2; exit 3` failed (exit status: 3): no such thing");
    }

    #[test]
    fn a_command_without_end_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let lived = folder.path().join("lived");
        let text = format!("(sleep 1; touch {}) & sleep 100", lived.display());
        let error = run_for(&text, Duration::from_millis(100), false).unwrap_err();
        assert!(matches!(error, HookError::Failed(message) if message.contains("was ended")));
        thread::sleep(Duration::from_millis(1200));
        assert!(!lived.exists());
    }

    #[test]
    fn a_stopped_run_stops_its_command() {
        assert!(matches!(run_for("sleep 100", Duration::from_secs(100), true), Err(HookError::Stopped)));
    }
}
