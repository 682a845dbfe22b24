use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::record::{CLIENT_COUNTS_MAX, NAME_BYTES_MAX};
use crate::run::{RunChoice, RunState};
use crate::sample::{self, File, trial};

fn write_sql(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Runs a function with the file permissions of the user `nobody`. Tests may run as root, for whom file permissions
/// do not apply. The function runs on a separate thread, because in Linux each thread has its own user for file
/// access.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    const NOBODY: libc::uid_t = 65_534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the system call has only a number as its argument. It changes only this thread, which ends
            // after `work`.
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

/// The names of the files in the folder of a results file.
fn names_beside(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn readers_leave_nothing_beside_the_file() {
    let File { folder: _folder, path, store, .. } = File::new();
    drop(store);
    let only = vec![path.file_name().unwrap().to_str().unwrap().to_owned()];
    assert_eq!(names_beside(&path), only);
    let (one, other) = (Store::open_read_only(&path).unwrap(), Store::open_read_only(&path).unwrap());
    drop(one);
    assert_eq!(other.runs().unwrap().len(), 1);
    drop(other);
    assert_eq!(names_beside(&path), only);
    assert!(Store::open(&path).unwrap().runs().is_ok());
    assert_eq!(names_beside(&path), only);
}

#[test]
fn the_last_reader_removes_what_a_killed_run_left() {
    let File { folder: _folder, path, store, .. } = File::new();
    let wal = beside(&path, "-wal");
    let kept = fs::read(&wal).unwrap();
    assert!(!kept.is_empty());
    let file = fs::read(&path).unwrap();
    drop(store);
    // Restores the state of the file and the log at the moment when the run was killed.
    fs::write(&path, file).unwrap();
    fs::write(&wal, kept).unwrap();
    assert_eq!(Store::open_read_only(&path).unwrap().runs().unwrap().len(), 1);
    assert!(!wal.exists() && !beside(&path, "-shm").exists());
    assert_eq!(Store::open_read_only(&path).unwrap().runs().unwrap().len(), 1);
}

#[test]
fn the_log_of_a_file_that_is_no_results_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    let (file, log) = (fs::read(&path).unwrap(), fs::read(beside(&path, "-wal")).unwrap());
    assert!(matches!(Store::open_read_only(&path), Err(StoreError::Foreign { .. })));
    drop(theirs);
    fs::write(&path, &file).unwrap();
    fs::write(beside(&path, "-wal"), &log).unwrap();
    assert!(matches!(Store::open_read_only(&path), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&path).unwrap(), file);
    assert_eq!(fs::read(beside(&path, "-wal")).unwrap(), log);
}

#[test]
fn a_run_can_use_what_is_not_there_and_what_it_wrote() {
    let File { folder, path, .. } = File::new();
    for (name, sql) in [("new.db", None), ("blank.db", Some("")), ("theirs.db", Some("CREATE TABLE t (x)"))] {
        let path = folder.path().join(name);
        match sql {
            Some("") => fs::write(&path, "").unwrap(),
            Some(sql) => write_sql(&path, sql),
            None => {}
        }
        assert_eq!(Store::check_usable(&path).is_ok(), name != "theirs.db", "{name}");
    }
    assert!(!folder.path().join("new.db").exists());
    assert!(Store::check_usable(&path).is_ok());
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
    assert!(matches!(error, StoreError::NotAFile { .. }), "{error}");
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

/// Opens a file for writing, then for reading. Both attempts must fail with the same error, which is returned.
fn refusal(path: &Path) -> StoreError {
    let writer = Store::open(path).unwrap_err();
    let reader = Store::open_read_only(path).unwrap_err();
    assert_eq!(writer.to_string(), reader.to_string());
    reader
}

/// The error of a sound file whose schema was changed by the statement `sql`.
fn altered(sql: &str) -> (tempfile::TempDir, StoreError) {
    let File { folder, path, store, .. } = File::new();
    drop(store);
    write_sql(&path, sql);
    let error = refusal(&path);
    assert!(matches!(error, StoreError::Altered { .. }), "{sql}: {error}");
    (folder, error)
}

#[test]
fn a_schema_that_is_not_dynos_is_refused_and_what_differs_is_named() {
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n";
    for (sql, named) in [
        (format!("DROP TABLE slice; CREATE VIEW slice AS {endless}"), "its `slice` is a view, not a table"),
        (format!("CREATE VIEW mine AS {endless}"), "it has the view `mine`"),
        ("DROP TABLE stack".to_owned(), "its table `stack` is missing"),
        ("DROP VIEW pair".to_owned(), "its view `pair` is missing"),
        ("DROP INDEX trial_system".to_owned(), "its index `trial_system` is missing"),
        ("CREATE INDEX mine ON trial (seconds)".to_owned(), "it has the index `mine`"),
        (
            "ALTER TABLE slice RENAME COLUMN cycle TO turn".to_owned(),
            "its table `slice` is not as Dyno makes it: `cycle INTEGER NOT NULL` is missing or changed",
        ),
        (
            "ALTER TABLE claim ADD COLUMN more TEXT AS (printf('%.*c', 1000000, 'x'))".to_owned(),
            "its table `claim` is not as Dyno makes it",
        ),
        (
            "CREATE TRIGGER mine AFTER INSERT ON run BEGIN DELETE FROM run; END".to_owned(),
            "it has the trigger `mine`",
        ),
        ("CREATE TABLE mine (x CHECK (random() > 0))".to_owned(), "it has the table `mine`"),
        ("CREATE TABLE \"a\nb\" (x)".to_owned(), "it has the table `a\\nb`"),
    ] {
        let (_folder, error) = altered(&sql);
        assert!(error.to_string().contains(named), "{sql}: {error}");
    }
}

#[test]
fn what_can_be_taken_back_is_told() {
    for (sql, remedy) in [
        (
            "CREATE VIEW mine AS SELECT 1",
            "; remove it with `DROP VIEW mine` in sqlite3, and keep your own in",
        ),
        ("CREATE TABLE \"a b\" (x)", "; remove it with sqlite3, and keep your own in"),
        ("DROP VIEW pair", "; restore the file from a copy, or undo the change with sqlite3"),
    ] {
        let (_folder, error) = altered(sql);
        assert!(error.to_string().contains(remedy), "{sql}: {error}");
    }
}

#[test]
fn statistics_that_sqlite_keeps_are_allowed_and_what_only_has_their_name_is_not() {
    let File { folder: _folder, path, store, .. } = File::new();
    drop(store);
    write_sql(&path, "ANALYZE");
    write_sql(&path, "UPDATE sqlite_stat1 SET stat = 'x'");
    let runs = |store: Store| store.runs().unwrap().len();
    assert_eq!(runs(Store::open(&path).unwrap()), 1);
    assert_eq!(runs(Store::open_read_only(&path).unwrap()), 1);
    for sql in ["CREATE VIEW sqlite_stat1 AS SELECT 1", "CREATE TABLE sqlite_stat1(tbl,idx,stat CHECK (1))"] {
        let (kind, rest) = if sql.contains("VIEW") { ("view", 0) } else { ("table", 1) };
        let File { folder: _folder, path, store, .. } = File::new();
        drop(store);
        write_sql(&path, "ANALYZE");
        write_sql(
            &path,
            &format!(
                "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = '{kind}',
                 sql = '{sql}', rootpage = rootpage * {rest} WHERE name = 'sqlite_stat1'"
            ),
        );
        let error = refusal(&path);
        assert!(error.to_string().contains(&format!("it has the {kind} `sqlite_stat1`")), "{error}");
    }
}

#[test]
fn an_altered_file_is_left_as_it_is() {
    let File { folder: _folder, path, store, .. } = File::new();
    drop(store);
    write_sql(&path, "DROP VIEW pair");
    let before = fs::read(&path).unwrap();
    refusal(&path);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let make_pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    make_pipe(&at("pipe"));
    fs::create_dir(at("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
    for (name, what) in [
        ("pipe", "is a named pipe, not a file"),
        ("link", "is a named pipe, not a file"),
        ("folder", "is a folder, not a file"),
        ("socket", "is a socket, not a file"),
        ("/dev/zero", "is a device, not a file"),
    ] {
        let error = refusal(&at(name));
        assert!(matches!(error, StoreError::NotAFile { .. }), "{error}");
        assert!(error.to_string().contains(what), "{name}: {error}");
    }
    // SQLite also reads the files that it keeps beside a database.
    for ending in ["-journal", "-wal", "-shm"] {
        let path = at("dyno.db");
        drop(Store::open(&path).unwrap());
        make_pipe(&beside(&path, ending));
        let error = refusal(&path);
        assert!(error.to_string().contains(&format!("{ending}: is a named pipe")), "{error}");
        fs::remove_file(beside(&path, ending)).unwrap();
    }
}

#[test]
fn values_of_other_types_are_damage() {
    for (column, value) in
        [("started_at_ms", "'never'"), ("seed", "1.5"), ("plan_name", "x'ff'"), ("rounds", "-1")]
    {
        let File { folder: _folder, path, store, .. } = File::new();
        drop(store);
        let loose = "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(replace(replace(sql, 'STRICT', ''), 'INTEGER NOT NULL', 'BLOB'),
                                                    'TEXT NOT NULL', 'BLOB') WHERE name = 'run';";
        let kept: String = Connection::open(&path)
            .unwrap()
            .query_row("SELECT sql FROM sqlite_schema WHERE name = 'run'", [], |row| row.get(0))
            .unwrap();
        write_sql(&path, loose);
        write_sql(&path, &format!("UPDATE run SET {column} = {value}"));
        Connection::open(&path)
            .unwrap()
            .execute_batch(&format!(
                "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '{}' WHERE name = 'run'",
                kept.replace('\'', "''")
            ))
            .unwrap();
        let error = Store::open_read_only(&path).unwrap().load_run(RunChoice::Latest).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{column}: {error}");
    }
}

#[test]
fn a_step_with_more_client_counts_than_a_plan_can_have_is_damage() {
    let error = |counts: usize| {
        let File { folder: _folder, path, store, .. } = File::new();
        drop(store);
        let counts = serde_json::json!((1..=counts).collect::<Vec<_>>());
        write_sql(&path, &format!("UPDATE step SET clients = '{counts}'"));
        Store::open_read_only(&path).unwrap().load_run(RunChoice::Latest).err()
    };
    assert!(error(CLIENT_COUNTS_MAX).is_none());
    let error = error(CLIENT_COUNTS_MAX + 1).unwrap();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("257 client counts, more than 256"), "{error}");
}

#[test]
fn a_name_that_is_longer_than_a_plan_can_have_is_damage() {
    for (table, column) in [("run", "plan_name"), ("system", "id"), ("step", "id"), ("step", "group_name")] {
        let error = |length: usize| {
            let File { folder: _folder, path, store, .. } = File::new();
            drop(store);
            let first = format!("WHERE {column} = (SELECT min({column}) FROM {table})");
            let name = "x".repeat(length);
            let sql = format!("PRAGMA foreign_keys = OFF; UPDATE {table} SET {column} = '{name}' {first}");
            write_sql(&path, &sql);
            Store::open_read_only(&path).unwrap().load_run(RunChoice::Latest).err()
        };
        let is_name_error = |error: &StoreError| error.to_string().contains("a name has");
        assert!(!error(NAME_BYTES_MAX).is_some_and(|error| is_name_error(&error)), "{table}.{column}");
        let error = error(NAME_BYTES_MAX + 1).unwrap();
        assert!(error.to_string().contains("a name has 1001 bytes, more than 1000"), "{column}: {error}");
    }
}

#[test]
fn a_ladder_that_has_a_system_twice_is_damage() {
    let error = |ladders: serde_json::Value| {
        let File { folder: _folder, path, store, .. } = File::new();
        drop(store);
        write_sql(&path, &format!("UPDATE run SET ladders = '{ladders}'"));
        Store::open_read_only(&path).unwrap().load_run(RunChoice::Latest).err()
    };
    let ladder = |id: &str, systems: &[&str]| serde_json::json!({ "id": id, "systems": systems });
    assert!(error(serde_json::json!([ladder("a", &["old", "new"]), ladder("b", &["old", "new"])])).is_none());
    for twice in [
        serde_json::json!([ladder("a", &["old", "new", "old"])]),
        serde_json::json!([ladder("a", &["old", "new"]), ladder("a", &["old", "new"])]),
    ] {
        let error = error(twice).unwrap();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("there twice"), "{error}");
    }
}
