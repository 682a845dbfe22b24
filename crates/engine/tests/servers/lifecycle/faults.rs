//! Faults of a running server: it dies at work, hangs, loses its socket, or gets foreign data.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dyno_engine::testing::{Signal, engines, installation, pause, send, start_in};
use dyno_engine::{Client, Installation, Server, ServerFault, StartError};
use dyno_testing::dyno_test;

use crate::ENGINES;
use crate::leftovers::{assert_nothing_left, wait_until};

const PATIENCE: Duration = Duration::from_secs(10);

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

#[dyno_test(engines(ENGINES))]
fn a_server_dies_while_it_is_loaded_with_its_last_words_told(installation: &Installation) {
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

#[dyno_test(engines(ENGINES))]
fn a_server_crashes_while_it_is_read_from_with_its_last_words_told(installation: &Installation) {
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

#[dyno_test(engines(ENGINES))]
fn a_server_dies_as_it_is_stopped_and_leaves_nothing(installation: &Installation) {
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

#[dyno_test(engines(&["postgres@18.4"]))]
fn a_server_dies_without_its_lock_file_and_leaves_nothing(installation: &Installation) {
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

#[dyno_test(engines(ENGINES))]
fn a_server_that_hangs_is_found_and_ended_all_the_same(installation: &Installation) {
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

#[dyno_test(engines(ENGINES))]
fn a_server_comes_back_where_something_else_took_its_socket(installation: &Installation) {
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

#[dyno_test(engines(&["postgres@18.4"]))]
fn postgres_refuses_data_of_an_older_version_and_says_why(own: &Installation) {
    refuses_data(own, "postgres@16.14", "initialized by PostgreSQL version 16");
}

#[dyno_test(engines(&["mysql@5.6.24"]))]
fn mysql_refuses_data_of_mariadb_and_says_why(own: &Installation) {
    refuses_data(own, "mariadb@10.11", "mysql_upgrade");
}

#[dyno_test(engines(&["mariadb@10.2.11"]))]
fn mariadb_refuses_data_of_a_newer_version_and_says_why(own: &Installation) {
    refuses_data(own, "mariadb@11.8", "InnoDB");
}

/// Gives a server the data of another engine. Asserts that it does not start, and that its message about the data
/// contains some words.
fn refuses_data(own: &Installation, other: &str, words: &str) {
    let other = installation(other).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stopped = |installation: &Installation| {
        let mut server = start_in(folder.path(), installation, "");
        server.shut_down_cleanly(PATIENCE).unwrap();
        server
    };
    let (mut server, donor) = (stopped(own), stopped(&other));
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
