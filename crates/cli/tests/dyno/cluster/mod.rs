//! Rounds on several hosts: over a real sshd on the loopback, and with a real Slurm of two nodes on this machine.
//! If a daemon cannot be started, its tests are ignored with the reason. With `DYNO_REQUIRE_CLUSTER=1` they fail
//! instead.

mod drivers;
mod namespaces;
mod plain;
mod relay;
mod slurm;
mod slurm_daemons;
mod ssh;
mod sshd;

use std::cell::RefCell;
use std::env;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use dyno_testing::{Completion, Trial};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, Ended, eventually, sqlite_plan};

/// Number of rounds in which both systems completed all three steps.
const COMPLETE: &str = "SELECT count(*) FROM (SELECT round FROM trial WHERE outcome = 'completed'
                        GROUP BY round HAVING count(*) = 6)";

/// The tiny plan with four rounds. `last_seconds` is the time of the last step.
fn plan(last_seconds: f64) -> String {
    sqlite_plan(last_seconds).replacen("rounds = 2", "rounds = 4", 1)
}

/// A maker of tests that need hosts or a cluster. `start` starts the hosts or the cluster.
fn on<T: 'static>(start: fn(&Bench) -> Result<T, String>) -> impl Fn(&str, fn(&Bench, &mut T)) -> Vec<Trial> {
    move |name, test| {
        let run = move || {
            let bench = Bench::new();
            match start(&bench) {
                Ok(mut cluster) => {
                    test(&bench, &mut cluster);
                    Ok(Completion::Completed)
                }
                Err(reason) if env::var_os("DYNO_REQUIRE_CLUSTER").is_some() => Err(reason.into()),
                Err(reason) => Ok(Completion::ignored_with(reason)),
            }
        };
        vec![Trial::ignorable_test(name, run)]
    }
}

/// A running `dyno` whose standard error goes to a file.
struct Working {
    child: Child,
    told: PathBuf,
}

impl Working {
    fn start(bench: &Bench, mut command: Command) -> Self {
        let told = bench.path("told.txt");
        // The process gets a group of its own, as it would from a shell.
        command.process_group(0).stdout(Stdio::piped()).stderr(File::create(&told).unwrap());
        Self { child: command.spawn().unwrap(), told }
    }

    /// Waits until the standard error contains these words.
    fn wait_for(&mut self, words: &str) {
        let told = || fs::read_to_string(&self.told).unwrap();
        let child = RefCell::new(&mut self.child);
        eventually(&format!("dyno says `{words}`"), || {
            told().contains(words) || child.borrow_mut().try_wait().unwrap().is_some()
        });
        assert!(told().contains(words), "it ended and said {}", told());
    }

    fn finish(self) -> Ended {
        let output = self.child.wait_with_output().unwrap();
        Ended {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: fs::read_to_string(&self.told).unwrap(),
        }
    }
}

/// The path of a program. Folders with programs for administrators are searched too.
fn program(name: &str, package: &str) -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let mut places = folders.map(|folder| folder.join(name));
    places
        .find(|place| place.is_file())
        .ok_or_else(|| format!("no {name} in the path; `apt-get install {package}`"))
}

/// All descendants of a process.
fn descendants(of: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(pids.iter().filter(|pid| parent_of(**pid) == Some(parent)));
        at += 1;
    }
    found.remove(0);
    found
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // By proc_pid_stat(5), the name is in parentheses, and the parent is the second field after the name.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn kill(pid: u32) {
    // The process may have ended already.
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
}
