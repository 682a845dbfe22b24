//! A volume whose power is cut, on the real kernel.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use dyno_host::{VolatileVolume, remove_leftovers};
use dyno_testing::dyno_test;

use crate::left::ROLE;
use crate::with_rights;

const BYTES: u64 = 64 << 20;

fn write(path: &Path, text: &str) -> File {
    let mut file = File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn is_mounted_below(parent: &Path) -> bool {
    let parent = parent.canonicalize().unwrap();
    fs::read_to_string("/proc/self/mounts").unwrap().contains(&*parent.to_string_lossy())
}

#[dyno_test(with_rights(VolatileVolume::check_rights))]
fn what_was_synced_survives_a_power_cut_and_what_was_not_does_not() {
    let parent = tempfile::tempdir().unwrap();
    let volume = VolatileVolume::create(parent.path(), BYTES).unwrap();
    let (synced, unsynced) = (volume.folder().join("synced"), volume.folder().join("unsynced"));
    write(&synced, "one").sync_all().unwrap();
    drop(write(&unsynced, "two"));
    volume.cut(&mut || false).unwrap();
    volume.power_on().unwrap();
    assert_eq!(fs::read_to_string(&synced).unwrap(), "one");
    assert!(fs::read_to_string(&unsynced).is_err());

    drop(write(&unsynced, "three"));
    volume.flush().unwrap();
    volume.cut(&mut || false).unwrap();
    volume.power_on().unwrap();
    assert_eq!(fs::read_to_string(&unsynced).unwrap(), "three");

    drop(volume);
    assert!(!is_mounted_below(parent.path()));
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[dyno_test(with_rights(VolatileVolume::check_rights))]
fn a_cut_leaves_a_file_system_that_recovers_over_and_over() {
    let parent = tempfile::tempdir().unwrap();
    let volume = VolatileVolume::create(parent.path(), BYTES).unwrap();
    let mut coin = 0_u32;
    for round in 0..10 {
        let synced = volume.folder().join(format!("synced-{round}"));
        write(&synced, &"x".repeat(50_000)).sync_all().unwrap();
        for other in 0..50 {
            write(&volume.folder().join(format!("other-{other}")), &"y".repeat(other * 1000));
        }
        volume
            .cut(&mut || {
                coin = coin.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                coin >> 31 == 0
            })
            .unwrap();
        volume.power_on().unwrap();
        for earlier in 0..=round {
            let text = fs::read_to_string(volume.folder().join(format!("synced-{earlier}"))).unwrap();
            assert_eq!(text.len(), 50_000, "round {round}, file {earlier}");
        }
    }
}

#[dyno_test(with_rights(VolatileVolume::check_rights))]
fn who_still_uses_the_disk_from_before_a_cut_cannot_write_to_it() {
    let parent = tempfile::tempdir().unwrap();
    let volume = VolatileVolume::create(parent.path(), BYTES).unwrap();
    let path = volume.folder().join("file");
    let disk = volume.folder().with_file_name("disk");
    let open = File::options().read(true).write(true).open(&disk).unwrap();
    write(&path, "one").sync_all().unwrap();
    volume.cut(&mut || false).unwrap();
    volume.power_on().unwrap();
    let error = (&open).write(&[0; 4096]).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::IO.raw_os_error()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
}

/// Makes a volume with a file, prints a line, and waits to be killed.
pub(crate) fn make_and_wait(parent: &Path) {
    let volume = VolatileVolume::create(parent, BYTES).unwrap();
    drop(write(&volume.folder().join("file"), "one"));
    println!("made");
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[dyno_test(with_rights(VolatileVolume::check_rights))]
fn a_volume_of_a_killed_process_can_be_removed() {
    let parent = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env(ROLE, format!("power {}", parent.path().display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(is_mounted_below(parent.path()));
    child.kill().unwrap();
    child.wait().unwrap();
    remove_leftovers(parent.path()).unwrap();
    assert!(!is_mounted_below(parent.path()));
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}
