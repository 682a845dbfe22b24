use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::run::{RunChoice, RunState};
use crate::sample::{self, File, trial};

fn write_sql(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Runs something as a user who owns nothing, on a thread of its own: Linux keeps the identity for file
/// access by thread. Tests may run as root, whom no permission stops.
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
fn files_of_later_versions_say_which_dyno_reads_them() {
    let file = File::new();
    for version in [0, schema::VERSION + 1] {
        file.store.pragma("user_version", &version.to_string()).unwrap();
        let error = Store::open(&file.path).unwrap_err();
        assert!(matches!(error, StoreError::OtherVersion { found, .. } if found == version), "{error}");
        assert!(error.to_string().contains("use a newer Dyno"), "{error}");
    }
}

#[test]
fn files_of_every_earlier_version_are_brought_up_to_date_and_keep_their_runs() {
    for version in 1..schema::VERSION {
        for reading in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("dyno.db");
            let old = Connection::open(&path).unwrap();
            schema::create_version(&old, version).unwrap();
            old.execute_batch(
                "INSERT INTO run (plan_name, plan_title, plan_text, dyno_version, seed, scale, command_line, host,
                                  started_at_ms, status, owner)
                 VALUES ('kept', '', '', '', 1, 1.0, '', '{}', 1, 'finished', '')",
            )
            .unwrap();
            let store = if reading { Store::open_read_only(&path) } else { Store::open(&path) }.unwrap();
            let run = store.load_run(RunChoice::Latest).unwrap();
            assert_eq!(run.record.plan_name, "kept");
        }
    }
}

#[test]
fn the_histograms_of_format_1_move_to_their_own_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dyno.db");
    let old = Connection::open(&path).unwrap();
    schema::create_version(&old, 1).unwrap();
    old.execute_batch(
        "INSERT INTO run (plan_name, plan_title, plan_text, dyno_version, seed, scale, command_line, host,
                          started_at_ms, status, owner)
         VALUES ('old', '', '', '', 1, 1.0, '', '{}', 1, 'finished', '');
         INSERT INTO system VALUES (1, 'db', 'sqlite', NULL, 0, 1, '{}');
         INSERT INTO step VALUES (1, 'reads', 'g', 0, 'w', 'run', 'query', '[1]', 1, 1.0, 0.0, '{}');
         INSERT INTO trial (run_id, system_id, step_id, clients, trial, position, started_at_ms, outcome,
                            message)
         VALUES (1, 'db', 'reads', 1, 0, 0, 1, 'failed', 'it died')",
    )
    .unwrap();
    for (number, operations, phase) in [(0, 5, "warmup"), (1, 7, "measure")] {
        old.execute(
            "INSERT INTO sample (trial_id, number, phase, seconds, operations, events, reads, writes, others, errors,
                                 reconnects, latency, latency_p99_us)
             VALUES (1, ?1, ?2, 1.0, ?3, ?3, 0, 0, 0, 0, 0, ?4, 42)",
            rusqlite::params![number, phase, operations, sample::latency(&[operations])],
        )
        .unwrap();
    }
    drop(old);
    let store = Store::open(&path).unwrap();
    let trial = store.load_run(RunChoice::Latest).unwrap().trials[0].id;
    let samples = store.samples(trial).unwrap();
    let found: Vec<_> = samples
        .iter()
        .map(|sample| (sample.number, sample.measured.counts.operations, sample.measured.latency.clone()))
        .collect();
    assert_eq!(found, [(0, 5, sample::latency(&[5])), (1, 7, sample::latency(&[7]))]);
    let seconds = store.seconds(trial).unwrap();
    assert_eq!(seconds.iter().map(|second| second.p99_us).collect::<Vec<_>>(), [Some(42); 2]);
    assert_eq!(store.check_contents().unwrap(), []);
}

#[test]
fn an_earlier_version_that_cannot_be_written_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dyno.db");
    schema::create_version(&Connection::open(&path).unwrap(), 1).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let error = as_nobody(|| Store::open_read_only(&path).unwrap_err());
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
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
    big.samples[0].measured.latency = vec![0; 1 << 20];
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
