use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::run::{RunChoice, RunState};
use crate::sample::{self, File, trial};

fn write_sql(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Runs a function as a user without rights, on a separate thread, because Linux stores the user for file access per
/// thread. Tests may run as root, for whom permissions do not apply.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    const NOBODY: libc::uid_t = 65_534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: a system call on two numbers; it changes this thread only, which ends with the work.
            unsafe { libc::setfsuid(NOBODY) };
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_second_writer_finds_the_file_made() {
    let file = File::new();
    let other = Store::open(&file.path).unwrap();
    assert_eq!(other.runs().unwrap().len(), 1);
}

#[test]
fn writers_that_start_at_once_make_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dyno.db");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Store::open(&path).unwrap().create_run(&sample::run()).unwrap());
        }
    });
    assert_eq!(Store::open_read_only(&path).unwrap().runs().unwrap().len(), 8);
}

#[test]
fn reading_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dyno.db");
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("dyno.db"), "{error}");
    assert!(!path.exists());
}

#[test]
fn a_path_that_cannot_be_written_is_named_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::open(&folder.path().join("no/such/folder.db")).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    assert!(error.to_string().contains("no/such/folder.db"), "{error}");
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
}

#[test]
fn a_file_that_may_not_be_written_is_refused_to_writers_only() {
    let mut file = File::new();
    file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
    let File { folder, path, store, .. } = file;
    drop(store);
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let error = as_nobody(|| Store::open(&path).unwrap_err());
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    let run = as_nobody(|| Store::open_read_only(&path).unwrap().load_run(RunChoice::Latest).unwrap());
    assert_eq!((run.trials.len(), run.state), (1, RunState::Running));
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "x".repeat(5000)).unwrap();
    let database = folder.path().join("other.db");
    write_sql(&database, "CREATE TABLE t (x)");
    for path in [&text, &database] {
        let before = fs::read(path).unwrap();
        for error in [Store::open(path).unwrap_err(), Store::open_read_only(path).unwrap_err()] {
            assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        }
        assert_eq!(fs::read(path).unwrap(), before);
    }
}

#[test]
fn files_of_other_versions_say_which_dyno_reads_them_and_are_left_alone() {
    for version in [0, 1, schema::VERSION - 1, schema::VERSION + 1] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dyno.db");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE run (id INTEGER PRIMARY KEY)").unwrap();
        schema::mark_version(&other, version).unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        for error in [Store::open(&path).unwrap_err(), Store::open_read_only(&path).unwrap_err()] {
            assert!(matches!(error, StoreError::OtherVersion { found, .. } if found == version), "{error}");
            assert!(error.to_string().contains("use the Dyno that wrote it"), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_file_without_a_run_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dyno.db");
    let store = Store::open(&path).unwrap();
    assert!(matches!(store.load_run(RunChoice::Latest).unwrap_err(), StoreError::Empty { .. }));
    let blank = folder.path().join("blank.db");
    fs::write(&blank, "").unwrap();
    assert!(matches!(Store::open_read_only(&blank).unwrap_err(), StoreError::Empty { .. }));
}

#[test]
fn a_full_disk_loses_the_trial_and_no_other() {
    let mut file = File::new();
    file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
    let pages: i64 = file.store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    file.store.pragma("max_page_count", &pages.to_string()).unwrap();
    let mut big = trial("old", 1, 1000);
    big.samples[0].measured.latency.histogram = vec![0; 1 << 20];
    let error = file.store.commit_trial(file.run, &big).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert_eq!(file.store.load_run(RunChoice::Latest).unwrap().trials.len(), 1);
    file.store.pragma("max_page_count", "1000000").unwrap();
    file.store.commit_trial(file.run, &big).unwrap();
}

#[test]
fn damage_is_named() {
    let file = File::new();
    let File { folder: _folder, path, store, .. } = file;
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let error = Store::open_read_only(&path).and_then(|store| store.runs()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn odd_names_survive_as_uris() {
    assert_eq!(immutable(Path::new("/a b/50%?#.db")), Path::new("file:/a b/50%25%3f%23.db?immutable=1"));
}
