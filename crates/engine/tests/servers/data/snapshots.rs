//! Snapshots of real servers' data. Other servers start on them.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::Duration;

use dyno_engine::testing::{installation, named_engines, start_in};
use dyno_engine::{
    Cache, Damage, Found, Installation, Server, Snapshot, SnapshotError, SnapshotParts, Snapshots,
    StartError, StartOptions, Transport, start,
};
use dyno_testing::dyno_test;
use rustix::process::{Resource, Rlimit, Signal, setrlimit};

use crate::OTHER_VERSIONS;
use crate::killed::command;
use crate::leftovers::assert_nothing_left;

const PATIENCE: Duration = Duration::from_secs(60);
const SYSTEMS: &[&str] = &["mariadb@10.11/innodb", "mariadb@10.11/rocksdb", "mysql@5.6.24", "postgres@18.4"];

fn parts(installation: &Installation, system: &str) -> SnapshotParts {
    SnapshotParts::of_server(installation, storage_engine(system).as_deref(), &[].into())
        .with("data set", "three rows")
}

fn storage_engine(system: &str) -> Option<String> {
    system.split_once('/').map(|(_, name)| name.to_owned())
}

/// Starts a server below a folder, gives it a table with three rows, and saves a snapshot of its data.
fn saved(folder: &Path, installation: &Installation, system: &str) -> Snapshot {
    let mut server = start_in(&folder.join("loading"), installation, system);
    server.query("CREATE TABLE kept (id INT PRIMARY KEY, word VARCHAR(20))").unwrap();
    server.query("INSERT INTO kept VALUES (1, 'one'), (2, 'two'), (3, 'three')").unwrap();
    let snapshots = Snapshots::of(&Cache::new(folder));
    let data = server.access().datadir.clone();
    let error = snapshots.save(&parts(installation, system), system, &data).unwrap_err();
    assert!(matches!(error, SnapshotError::InUse { .. }), "{error}");
    server.shut_down_cleanly(PATIENCE).unwrap();
    let snapshot = snapshots.save(&parts(installation, system), system, &data).unwrap();
    // After the save, the server can continue on its own data.
    server.restart().unwrap();
    check_rows(&server);
    snapshot
}

fn check_rows(server: &Server) {
    let rows = server.query("SELECT word FROM kept ORDER BY id").unwrap().rows;
    let words: Vec<_> = rows.iter().map(|row| row[0].as_deref().unwrap()).collect();
    assert_eq!(words, ["one", "two", "three"]);
}

fn start_on(
    folder: &Path,
    installation: &Installation,
    system: &str,
    snapshot: &Snapshot,
) -> Result<Server, StartError> {
    let options = StartOptions {
        storage_engine: storage_engine(system),
        data_from: Some(snapshot.clone()),
        ..StartOptions::new(folder.join("measuring"))
    };
    start(installation, options)
}

#[dyno_test(named_engines(SYSTEMS))]
#[dyno_test(named_engines(OTHER_VERSIONS))]
fn servers_start_on_the_data_of_another_server(installation: &Installation, system: &str) {
    let folder = tempfile::tempdir().unwrap();
    drop(saved(folder.path(), installation, system));
    let snapshots = Snapshots::of(&Cache::new(folder.path()));
    let Found::Snapshot(snapshot) = snapshots.find(&parts(installation, system).key()).unwrap() else {
        panic!("the snapshot is not found");
    };
    let one = start_on(folder.path(), installation, system, &snapshot).unwrap();
    let other = start_on(folder.path(), installation, system, &snapshot).unwrap();
    // Each server has its own password, for the socket and for TCP. A change on one server does not appear on the
    // other.
    assert_ne!(one.access().password, other.access().password);
    one.query("DELETE FROM kept WHERE id = 3").unwrap();
    check_rows(&other);
    let family = installation.entry.family;
    dyno_engine::connect(family, other.access(), Transport::Tcp, PATIENCE).unwrap();
    let stale = dyno_engine::Access { password: one.access().password.clone(), ..other.access().clone() };
    assert!(dyno_engine::connect(family, &stale, Transport::Socket, PATIENCE).is_err());
    let log = other.log_tail(1000).join("\n");
    assert!(!log.contains("crash recovery") && !log.contains("not properly shut down"), "{log}");
    one.stop().unwrap();
    other.stop().unwrap();
    assert_nothing_left(&folder.path().join("measuring"));
}

#[dyno_test(named_engines(SYSTEMS))]
fn a_server_does_not_start_on_a_damaged_snapshot(installation: &Installation, system: &str) {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = saved(folder.path(), installation, system);
    let key = snapshot.key().clone();
    let data = folder.path().join("snapshots").join(key.as_str()).join("data");
    let largest = largest_file(&data);
    fs::File::options().write(true).open(&largest).unwrap().set_len(10).unwrap();

    let error = start_on(folder.path(), installation, system, &snapshot).err().expect("it must not start");
    assert!(error.to_string().contains("damaged"), "{error}");
    assert_nothing_left(&folder.path().join("measuring"));
    drop(snapshot);
    let snapshots = Snapshots::of(&Cache::new(folder.path()));
    let below = largest.strip_prefix(&data).unwrap();
    match snapshots.find(&key).unwrap() {
        Found::Discarded(Damage::Changed(path)) => assert_eq!(path, below),
        other => panic!("{other:?}"),
    }
    assert!(matches!(snapshots.find(&key).unwrap(), Found::Nothing));
}

fn largest_file(folder: &Path) -> std::path::PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()).filter(|path| path.is_file());
    files.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap()
}

#[dyno_test(named_engines(SYSTEMS))]
fn a_killed_save_leaves_no_half_snapshot(installation: &Installation, system: &str) {
    let folder = tempfile::tempdir().unwrap();
    let status = command("save", system, folder.path()).status().unwrap();
    assert_eq!(status.signal(), Some(Signal::XFSZ.as_raw()), "{status}");
    let snapshots = Snapshots::of(&Cache::new(folder.path()));
    let key = parts(installation, system).key();
    assert!(matches!(snapshots.find(&key).unwrap(), Found::Nothing), "half a snapshot is in use");
    assert!(snapshots.list().unwrap().is_empty());
    let left = || fs::read_dir(folder.path().join("snapshots")).unwrap().count();
    assert_eq!(left(), 1, "the save was not under way");

    drop(saved(folder.path(), installation, system));
    assert_eq!(left(), 1, "what the killed save made is still there");
    assert!(matches!(snapshots.find(&key).unwrap(), Found::Snapshot(_)));
}

/// Saves a server's data in a process that must not write large files. The kernel kills the process when it writes
/// the first large file.
pub(crate) fn save_and_be_killed(system: &str, folder: &Path) {
    let installation = installation(system).unwrap();
    let mut server = start_in(&folder.join("loading"), &installation, system);
    server.shut_down_cleanly(PATIENCE).unwrap();
    let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::Core, limit(0)).unwrap();
    setrlimit(Resource::Fsize, limit(1_000_000)).unwrap();
    let snapshots = Snapshots::of(&Cache::new(folder));
    snapshots.save(&parts(&installation, system), system, &server.access().datadir).unwrap();
}
