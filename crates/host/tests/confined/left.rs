//! If the creator of a confinement is killed, groups, limits, mounts and files are left. The next confinement that is
//! created in the same folder removes them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dyno_host::{Confined, Confinement, remove_leftovers};
use dyno_testing::dyno_test;

use crate::{everything, power, privileged, rights, with_rights};

/// Environment variable that selects a role of this test program.
pub(crate) const ROLE: &str = "DYNO_TEST_ROLE";

pub(crate) fn play(role: &str) -> ExitCode {
    match role.split_once(' ') {
        Some(("confine", parent)) => confine_and_wait(&everything(), Path::new(parent)),
        Some(("confine-slowly", parent)) => confine_and_wait(&slow_everything(), Path::new(parent)),
        Some(("power", parent)) => power::make_and_wait(Path::new(parent)),
        _ => rights::report(),
    }
    ExitCode::SUCCESS
}

fn confine_and_wait(confinement: &Confinement, parent: &Path) {
    let confined = Confined::create(confinement, parent).unwrap();
    confined.impose_io_limits().unwrap();
    println!("{}", confined.device().unwrap().name);
    thread::sleep(Duration::from_secs(600));
}

/// A limit of each kind, on a volume whose disk has a latency.
fn slow_everything() -> Confinement {
    Confinement { latency_us: Some(1000), ..everything() }
}

#[dyno_test(privileged)]
fn what_a_killed_process_made_is_removed_by_the_next() {
    let parent = tempfile::tempdir().unwrap();
    let (device, groups) = confine_and_be_killed("confine", parent.path());
    assert_eq!(mounted_below(parent.path()).len(), 1);
    assert!(groups.iter().all(|group| group.exists()), "{groups:?}");

    drop(Confined::create(&everything(), parent.path()).unwrap());

    assert_nothing_left(parent.path());
    assert_released(&device, &groups);
}

#[dyno_test(privileged)]
fn leftovers_can_be_removed_without_making_anything() {
    leftovers_are_removed("confine");
}

#[dyno_test(with_rights(|| slow_everything().check_rights()))]
fn a_slow_disk_leaves_no_limits() {
    let parent = tempfile::tempdir().unwrap();
    let confined = Confined::create(&slow_everything(), parent.path()).unwrap();
    confined.impose_io_limits().unwrap();
    let (device, groups) = (confined.device().unwrap().name, groups_of(parent.path()));
    assert!(!limits_of(&device).is_empty() || !Path::new(BLKIO).exists());
    drop(confined);
    assert_nothing_left(parent.path());
    assert_released(&device, &groups);
}

#[dyno_test(with_rights(|| slow_everything().check_rights()))]
fn the_slow_disk_of_a_killed_process_leaves_no_limits() {
    leftovers_are_removed("confine-slowly");
}

#[dyno_test(privileged)]
fn what_a_living_process_made_is_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let living = Confined::create(&everything(), parent.path()).unwrap();
    remove_leftovers(parent.path()).unwrap();
    fs::write(living.volume().unwrap().join("rows"), "1").unwrap();
    assert_eq!(living.memory_limit_bytes(), Some(64 << 20));
    drop(living);
    assert_nothing_left(parent.path());
}

/// Checks that the leftovers of a killed process can be removed without creating a new confinement in the same folder.
fn leftovers_are_removed(role: &str) {
    let parent = tempfile::tempdir().unwrap();
    let (device, groups) = confine_and_be_killed(role, parent.path());
    remove_leftovers(parent.path()).unwrap();
    assert_nothing_left(parent.path());
    assert_released(&device, &groups);
}

/// In version 1 of cgroups, the folder of the root group that keeps the limits of devices.
const BLKIO: &str = "/sys/fs/cgroup/blkio";

/// Creates a confinement in a process with this role, and kills the process. Returns the confinement's loop device
/// and its groups.
fn confine_and_be_killed(role: &str, parent: &Path) -> (String, Vec<PathBuf>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env(ROLE, format!("{role} {}", parent.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut device = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut device).unwrap();
    let device = device.trim().to_owned();
    let groups = groups_of(parent);
    kill(child);
    // In version 1 the limits of the device outlive the process. In version 2 they belong to the group.
    assert!(!limits_of(&device).is_empty() || !Path::new(BLKIO).exists());
    (device, groups)
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn groups_of(parent: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(parent).unwrap().next().unwrap().unwrap().path();
    let made: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("made.json")).unwrap()).unwrap();
    let groups: Vec<PathBuf> = serde_json::from_value(made["groups"].clone()).unwrap();
    assert!(!groups.is_empty());
    groups
}

fn assert_released(device: &str, groups: &[PathBuf]) {
    assert!(groups.iter().all(|group| !group.exists()), "{groups:?}");
    assert_eq!(limits_of(device), [""; 0]);
}

/// Limits of a device in the root group of version 1. Empty if version 1 is not mounted.
fn limits_of(device: &str) -> Vec<String> {
    let number = fs::read_to_string(format!("/sys/block/{device}/dev")).unwrap();
    let folder = Path::new(BLKIO);
    ["read_iops", "write_iops", "read_bps", "write_bps"]
        .iter()
        .filter_map(|limit| fs::read_to_string(folder.join(format!("blkio.throttle.{limit}_device"))).ok())
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.split(' ').next() == Some(number.trim()))
        .collect()
}

/// Mount points below a folder.
pub(crate) fn mounted_below(folder: &Path) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let points = mounts.lines().map(|line| PathBuf::from(line.split(' ').nth(4).unwrap()));
    points.filter(|point| point.starts_with(folder)).collect()
}

/// Asserts that a folder contains no mount, no file, and no file that a loop device uses.
pub(crate) fn assert_nothing_left(folder: &Path) {
    assert_eq!(mounted_below(folder), [""; 0].map(PathBuf::from));
    let names: Vec<_> = fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name()).collect();
    assert_eq!(names, [""; 0]);
    // The kernel keeps a loop device until the last copy of its mount is gone. A container that is starting may hold
    // a copy a little longer.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !attached_below(folder).is_empty() {
        assert!(Instant::now() < deadline, "{:?}", attached_below(folder));
        thread::sleep(Duration::from_millis(10));
    }
}

/// Files below a folder that loop devices use.
fn attached_below(folder: &Path) -> Vec<String> {
    let backing = |item: fs::DirEntry| fs::read_to_string(item.path().join("loop/backing_file")).ok();
    let files = fs::read_dir("/sys/block").unwrap().filter_map(|item| backing(item.unwrap()));
    files.filter(|file| Path::new(file.trim()).starts_with(folder)).collect()
}
