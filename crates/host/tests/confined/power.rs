//! A volume whose power is cut, on the real kernel.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use dyno_host::{VolatileVolume, remove_leftovers};
use libtest_mimic::{Completion, Trial};

use crate::left::ROLE;

const BYTES: u64 = 64 << 20;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        power_test(
            "what was synced survives a power cut and what was not does not",
            what_was_synced_survives,
        ),
        power_test("a cut leaves a file system that recovers, over and over", a_cut_file_system_recovers),
        power_test("a volume of a killed process is removed by the next", a_volume_of_the_dead_is_removed),
        power_test("who still uses the disk from before a cut cannot write to it", the_dead_cannot_write),
    ]
}

fn power_test(name: &str, test: fn()) -> Trial {
    Trial::ignorable_test(name, move || {
        if let Err(missing) = VolatileVolume::check_rights() {
            return Ok(Completion::ignored_with(missing.to_string()));
        }
        test();
        Ok(Completion::Completed)
    })
}

fn write(path: &Path, text: &str) -> File {
    let mut file = File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn is_mounted_below(parent: &Path) -> bool {
    let parent = parent.canonicalize().unwrap();
    fs::read_to_string("/proc/self/mounts").unwrap().contains(&*parent.to_string_lossy())
}

fn what_was_synced_survives() {
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

fn a_cut_file_system_recovers() {
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

fn the_dead_cannot_write() {
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

fn a_volume_of_the_dead_is_removed() {
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
