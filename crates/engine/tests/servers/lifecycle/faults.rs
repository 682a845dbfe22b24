//! Faults of a running server: it dies at work, hangs, loses its socket, or gets foreign data.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dyno_engine::testing::{Signal, Trial, engine_test, installation, pause, send, start_in};
use dyno_engine::{Client, Installation, Server, ServerFault, StartError};

use crate::leftovers::{assert_nothing_left, wait_until};

const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for engine in ["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"] {
        tests.push(engine_test("dies while it is loaded, with its last words told", engine, dies_at_load));
        tests.push(engine_test("crashes while it is read from, with its last words told", engine, crashes));
        tests.push(engine_test("dies as it is stopped, and nothing is left", engine, dies_at_stop));
        tests.push(engine_test("hangs, is found to, and is ended all the same", engine, hangs));
        tests.push(engine_test("comes back where something else took its socket", engine, taken_socket));
    }
    let what = "dies without its lock file, and nothing is left";
    tests.push(engine_test(what, "postgres@18.4", loses_its_lock_file));
    // The engine of the server, the engine whose data the server gets, and a part of the server's message about the
    // data.
    for (engine, of, words) in [
        ("postgres@18.4", "postgres@16.14", "initialized by PostgreSQL version 16"),
        ("mysql@5.6.24", "mariadb@10.11", "mysql_upgrade"),
        ("mariadb@10.2.11", "mariadb@11.8", "InnoDB"),
    ] {
        tests.push(engine_test(
            "refuses data of another version, with the reason told",
            engine,
            move |own| {
                foreign_data(own, &installation(of).unwrap(), words);
            },
        ));
    }
    tests
}

/// Repeats a statement until it fails. Causes the fault after the first success.
fn fails_amid(client: Client, statement: &str, fault: impl FnOnce()) {
    std::thread::scope(|scope| {
        let (started, is_started) = std::sync::mpsc::channel();
        let worker = scope.spawn(move || {
            let mut client = client;
            while client.query(statement).is_ok() {
                let _ = started.send(());
            }
        });
        is_started.recv().unwrap();
        fault();
        worker.join().unwrap();
    });
}

/// The pages of System V shared memory that a process has made, as sysvipc(5) shows them.
fn pages_made_by(pid: u32) -> Vec<String> {
    let all = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let has_made = |line: &&str| line.split_whitespace().nth(4) == Some(&pid.to_string());
    all.lines().filter(has_made).map(str::to_owned).collect()
}

/// The files of shared memory that a server maps, as proc(5) shows them.
fn segments(server: &Server) -> Vec<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", server.access().pid)).unwrap();
    let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let segments: Vec<_> =
        paths.filter(|path| path.starts_with("/dev/shm/PostgreSQL.")).map(PathBuf::from).collect();
    assert_eq!(segments.is_empty(), server.access().engine != "postgres");
    segments
}

fn dies_at_load(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_in(folder.path(), installation, "");
    server.query("CREATE TABLE t (id INT)").unwrap();
    server.check(PATIENCE).unwrap();
    let client = server.connect(PATIENCE).unwrap();
    fails_amid(client, "INSERT INTO t VALUES (1), (2), (3)", || send(server.access().pid, Signal::KILL));
    let fault = server.check(PATIENCE).unwrap_err();
    let ServerFault::Died { status, log, .. } = &fault else { panic!("{fault}") };
    assert!(status.contains("SIGKILL"), "{status}");
    assert!(!log.is_empty() && fault.to_string().contains(&log[0]), "{fault}");
    server.stop().unwrap();
    assert_nothing_left(folder.path());
}

fn crashes(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_in(folder.path(), installation, "");
    let client = server.connect(PATIENCE).unwrap();
    fails_amid(client, "SELECT 1", || send(server.access().pid, Signal::ABORT));
    let fault = server.check(PATIENCE).unwrap_err();
    assert!(matches!(fault, ServerFault::Died { .. }), "{fault}");
    if installation.entry.engine != "postgres" {
        assert!(fault.to_string().contains("signal 6"), "{fault}");
    }
    server.stop().unwrap();
    assert_nothing_left(folder.path());
}

fn dies_at_stop(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_in(folder.path(), installation, "");
    let pid = server.access().pid;
    assert_eq!(pages_made_by(pid).is_empty(), server.access().engine != "postgres");
    let _client = server.connect(PATIENCE).unwrap();
    let segments = segments(&server);
    send(pid, Signal::KILL);
    server.stop().unwrap();
    assert_nothing_left(folder.path());
    assert_eq!(pages_made_by(pid), [""; 0]);
    assert!(segments.iter().all(|segment| !segment.exists()), "{segments:?}");
}

fn loses_its_lock_file(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let server = start_in(folder.path(), installation, "");
    let pid = server.access().pid;
    assert_eq!(pages_made_by(pid).len(), 1);
    fs::remove_file(server.access().datadir.join("postmaster.pid")).unwrap();
    send(pid, Signal::KILL);
    server.stop().unwrap();
    assert_nothing_left(folder.path());
    assert_eq!(pages_made_by(pid), [""; 0]);
}

fn hangs(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start_in(folder.path(), installation, "");
    pause(server.access().pid);
    let fault = server.check(Duration::from_secs(1)).unwrap_err();
    assert!(matches!(fault, ServerFault::Hung { .. }), "{fault}");
    assert!(server.is_alive());
    server.restart().unwrap();
    server.check(PATIENCE).unwrap();
    let segments = segments(&server);
    pause(server.access().pid);
    server.stop().unwrap();
    assert_nothing_left(folder.path());
    assert!(segments.iter().all(|segment| !segment.exists()), "{segments:?}");
}

fn taken_socket(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start_in(folder.path(), installation, "");
    send(server.access().pid, Signal::KILL);
    wait_until("the server is dead", || !server.is_alive());
    let socket = server.access().socket.clone();
    let _ = fs::remove_file(&socket);
    let _squatter = UnixListener::bind(&socket).unwrap();
    server.restart().unwrap();
    server.check(PATIENCE).unwrap();
}

fn foreign_data(own: &Installation, other: &Installation, words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let stopped = |installation: &Installation| {
        let mut server = start_in(folder.path(), installation, "");
        server.shut_down_cleanly(PATIENCE).unwrap();
        server
    };
    let (mut server, donor) = (stopped(own), stopped(other));
    replace(&server.access().datadir, &donor.access().datadir);
    let error = server.restart().unwrap_err();
    assert!(matches!(error, StartError::Ended { .. }), "{error}");
    assert!(error.to_string().contains(words), "{error}");
    drop((server, donor));
    assert_nothing_left(folder.path());
}

fn replace(folder: &Path, with: &Path) {
    fs::remove_dir_all(folder).unwrap();
    let status = Command::new("cp").arg("-a").arg(with).arg(folder).status().unwrap();
    assert!(status.success());
}
