use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A cache and a data folder with some files.
fn site() -> (tempfile::TempDir, Snapshots, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("server/data");
    fs::create_dir_all(data.join("sbtest")).unwrap();
    fs::write(data.join("ibdata1"), vec![3; 100_000]).unwrap();
    fs::write(data.join("sbtest/t.ibd"), "rows").unwrap();
    let snapshots = Snapshots::of(&Cache::new(folder.path().join("cache")));
    (folder, snapshots, data)
}

fn parts(rows: &str) -> SnapshotParts {
    SnapshotParts::default().with("engine", "test").with("rows", rows)
}

fn found(snapshots: &Snapshots, parts: &SnapshotParts) -> Snapshot {
    match snapshots.find(&parts.key()).unwrap() {
        Found::Snapshot(snapshot) => snapshot,
        other => panic!("{other:?}"),
    }
}

/// Names in the folder of snapshots.
fn names(snapshots: &Snapshots) -> Vec<String> {
    let items = fs::read_dir(&snapshots.folder).unwrap();
    items.map(|item| item.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn what_is_saved_is_found_and_restored() {
    let (folder, snapshots, data) = site();
    assert!(matches!(snapshots.find(&parts("1").key()).unwrap(), Found::Nothing));
    snapshots.save(&parts("1"), "one row", &data).unwrap();
    fs::remove_dir_all(&data).unwrap();

    let snapshot = found(&snapshots, &parts("1"));
    assert_eq!((snapshot.description(), snapshot.bytes()), ("one row", 100_004));
    for name in ["first", "second"] {
        let copied = snapshot.restore(&folder.path().join(name)).unwrap();
        assert_eq!((copied.files, copied.bytes), (2, 100_004));
        assert_eq!(fs::read(folder.path().join(name).join("sbtest/t.ibd")).unwrap(), b"rows");
    }
    assert!(matches!(snapshots.find(&parts("2").key()).unwrap(), Found::Nothing));
}

/// A save drops the saved data from the page cache. Other servers of the same round start on restored data, which is
/// not in the page cache either, so all servers start alike.
#[test]
fn what_is_saved_is_no_longer_cached() {
    // The folder is on a disk, because the files of a file system in memory are always in the page cache.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("rows"), vec![7; 1 << 20]).unwrap();
    let snapshots = Snapshots::of(&Cache::new(folder.path().join("cache")));
    snapshots.save(&parts("1"), "", &data).unwrap();
    let before = bytes_fetched();
    fs::read(data.join("rows")).unwrap();
    let bytes = bytes_fetched() - before;
    assert!(bytes >= 1 << 20, "{bytes} bytes came from the disk");
}

/// Bytes that the kernel has fetched from storage for this thread (proc(5), `io`).
fn bytes_fetched() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/io").unwrap();
    text.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap().parse().unwrap()
}

#[test]
fn a_folder_that_is_there_is_not_overwritten() {
    let (folder, snapshots, data) = site();
    let snapshot = snapshots.save(&parts("1"), "", &data).unwrap();
    let into = folder.path().join("into");
    fs::create_dir(&into).unwrap();
    fs::write(into.join("precious"), "").unwrap();
    let error = snapshot.restore(&into).unwrap_err();
    assert!(error.to_string().contains("into"), "{error}");
    assert!(into.join("precious").exists());
    assert!(!folder.path().join("into.partial").exists());
}

#[test]
fn a_damaged_snapshot_is_thrown_away_and_said_so() {
    type Harm = fn(&Path);
    let harms: [(Harm, &str); 5] = [
        (|data| fs::remove_file(data.join("sbtest/t.ibd")).unwrap(), "sbtest/t.ibd is missing"),
        (|data| fs::write(data.join("ibdata1"), vec![3; 99_999]).unwrap(), "ibdata1 was changed"),
        (|data| fs::write(data.join("new"), "").unwrap(), "new was added"),
        (
            |data| fs::set_permissions(data.join("ibdata1"), fs::Permissions::from_mode(0o777)).unwrap(),
            "ibdata1 was changed",
        ),
        (|data| fs::write(data.join("../snapshot.json"), "{").unwrap(), "snapshot.json"),
    ];
    for (harm, expected) in harms {
        let (folder, snapshots, data) = site();
        let snapshot = snapshots.save(&parts("1"), "", &data).unwrap();
        harm(&snapshot.data());
        if !expected.contains("json") {
            let error = snapshot.restore(&folder.path().join("into")).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!folder.path().join("into").exists());
        }
        drop(snapshot);
        match snapshots.find(&parts("1").key()).unwrap() {
            Found::Discarded(damage) => assert!(damage.to_string().contains(expected), "{damage}"),
            other => panic!("{other:?}"),
        }
        assert!(names(&snapshots).is_empty());
    }
}

#[test]
fn what_a_killed_process_left_is_removed_and_what_a_living_one_makes_is_not() {
    let (_folder, snapshots, data) = site();
    fs::create_dir_all(snapshots.folder.join(".partial-dead/data")).unwrap();
    fs::create_dir_all(snapshots.folder.join(".trash-dead/data")).unwrap();
    let living = snapshots.folder.join(".partial-living");
    fs::create_dir_all(&living).unwrap();
    let _lock = folder::lock_folder(&living).unwrap();
    assert!(snapshots.list().unwrap().is_empty(), "a half snapshot is listed");

    snapshots.save(&parts("1"), "", &data).unwrap();

    let mut names = names(&snapshots);
    names.sort();
    assert_eq!(names, [".partial-living", parts("1").key().as_str()]);
}

#[test]
fn two_that_save_the_same_share_one() {
    let (_folder, snapshots, data) = site();
    let save = || snapshots.save(&parts("1"), "", &data).unwrap();
    let (one, other) = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(save), scope.spawn(save));
        (one.join().unwrap(), other.join().unwrap())
    });
    assert_eq!(one.folder, other.folder);
    assert_eq!(names(&snapshots), [parts("1").key().as_str()]);
}

#[test]
fn a_snapshot_in_use_is_not_removed() {
    let (_folder, snapshots, data) = site();
    let snapshot = snapshots.save(&parts("1"), "", &data).unwrap();
    assert!(snapshots.list().unwrap()[0].is_in_use);
    let error = snapshots.remove(snapshot.key()).unwrap_err();
    assert!(matches!(error, SnapshotError::InUse { .. }), "{error}");
    drop(snapshot);
    assert!(!snapshots.list().unwrap()[0].is_in_use);
    snapshots.remove(&parts("1").key()).unwrap();
    snapshots.remove(&parts("1").key()).unwrap();
    assert!(names(&snapshots).is_empty());
}

#[test]
fn a_folder_that_a_process_works_in_is_not_saved() {
    let (_folder, snapshots, data) = site();
    let mut server = std::process::Command::new("sleep").arg("1000").current_dir(&data).spawn().unwrap();
    let error = snapshots.save(&parts("1"), "", &data).unwrap_err();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(matches!(error, SnapshotError::InUse { .. }), "{error}");
}

#[test]
fn a_save_that_fails_leaves_nothing() {
    let (_folder, snapshots, data) = site();
    snapshots.save(&parts("1"), "", &data.join("missing")).unwrap_err();
    assert!(names(&snapshots).is_empty());
}

#[test]
fn snapshots_are_listed_by_last_use() {
    let (_folder, snapshots, data) = site();
    for rows in ["1", "2"] {
        snapshots.save(&parts(rows), rows, &data).unwrap();
    }
    found(&snapshots, &parts("1"));
    let list = snapshots.list().unwrap();
    let descriptions: Vec<_> = list.iter().map(|summary| summary.description.as_str()).collect();
    assert_eq!(descriptions, ["1", "2"]);
    assert!(list[0].disk_bytes > 100_000);
}
