//! Tests in which a process is killed after it has started a server or a volume, or while it fetches an engine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::testing::{installation, named_engines, start_in, start_inside};
use dyno_engine::{Cache, Catalogue, Installation, Phase, Running, fetch};
use dyno_host::Confined;
use dyno_testing::dyno_test;

use crate::ENGINES;
use crate::data::snapshots;
use crate::leftovers::{are_dead, assert_nothing_left, processes_of, wait_until};
use crate::limits::confined::limited_io;

const ROLE: &str = "DYNO_TEST_ROLE";

/// Some processes of this program are started to play a role instead of running tests. Returns the role and its
/// arguments, separated by spaces. `None` in a process that runs tests.
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Plays a role: most roles do their work, print `done`, and wait to be killed.
pub(crate) fn play(role: &str) -> ExitCode {
    let arguments: Vec<&str> = role.split(' ').collect();
    let [role, engine, folder] = arguments[..] else { return ExitCode::FAILURE };
    let folder = Path::new(folder);
    match role {
        "start" => {
            let _server = start_in(folder, &installation(engine).unwrap(), engine);
            say_done_and_wait();
        }
        "confine" => {
            let confined = Arc::new(Confined::create(&limited_io(), folder).unwrap());
            let _server = start_inside(&confined, &installation(engine).unwrap(), engine, &[]);
            say_done_and_wait();
        }
        "detach" => {
            let running = Running::new(&Cache::new(folder));
            let (name, installation) = (engine.parse().unwrap(), installation(engine).unwrap());
            running.start(&name, &installation, None, std::collections::BTreeMap::new()).unwrap();
            say_done_and_wait();
        }
        "fetch" => {
            let catalogue = Catalogue::builtin();
            let entry = catalogue.find(&engine.parse().unwrap()).unwrap();
            fetch(&entry, &Cache::new(folder), &mut |progress| {
                if progress.phase == Phase::Downloading && progress.done_bytes > 0 {
                    say_done_and_wait();
                }
            })
            .unwrap();
        }
        "save" => snapshots::save_and_be_killed(engine, folder),
        "fail" => {
            let catalogue = Catalogue::builtin();
            let entry = catalogue.find(&engine.parse().unwrap()).unwrap();
            println!("{}", fetch(&entry, &Cache::new(folder), &mut |_| ()).unwrap_err());
        }
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

fn say_done_and_wait() {
    println!("done");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

/// The command that runs this program in a role.
pub(crate) fn command(role: &str, engine: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROLE, format!("{role} {engine} {}", folder.display()));
    command
}

/// Starts this program in a role, and returns when the role is done.
pub(crate) fn actor(role: &str, engine: &str, folder: &Path) -> Child {
    let mut child = command(role, engine, folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "done\n");
    child
}

/// Returns the command that runs this program in a role, without access to the network. The command needs the right
/// to make a network namespace.
pub(crate) fn without_network(role: &str, engine: &str, folder: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.arg("--net").arg(std::env::current_exe().unwrap());
    command.env(ROLE, format!("{role} {engine} {}", folder.display()));
    command
}

/// Kills a process as `kill -9` does.
pub(crate) fn kill(mut actor: Child) {
    actor.kill().unwrap();
    actor.wait().unwrap();
}

#[dyno_test(named_engines(ENGINES))]
fn a_server_dies_with_the_process_that_started_it(installation: &Installation, engine: &str) {
    let folder = tempfile::tempdir().unwrap();
    let actor = actor("start", engine, folder.path());
    assert!(!are_dead(folder.path()));

    kill(actor);
    wait_until("the server is dead", || are_dead(folder.path()));
    assert_eq!(processes_of(folder.path()), [""; 0]);

    // The next start of a server in the folder removes the dead server's files.
    start_in(folder.path(), installation, engine).stop().unwrap();
    assert_nothing_left(folder.path());
}
