//! Tests of the effects of an active confinement.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use dyno_host::{ConfineError, Confined, Confinement, IoLimits, MemoryKills};
use dyno_testing::dyno_test;

use crate::left::{assert_nothing_left, mounted_below};
use crate::{everything, privileged};

#[dyno_test(privileged)]
fn a_volume_is_a_file_system_of_the_size_that_was_asked_for() {
    let parent = tempfile::tempdir().unwrap();
    let confined = Confined::create(&everything(), parent.path()).unwrap();
    let volume = confined.volume().unwrap();
    assert_eq!(mounted_below(parent.path()), [volume]);
    let bytes = rustix::fs::statvfs(volume).map(|facts| facts.f_blocks * facts.f_frsize).unwrap();
    assert!((40 << 20..=64 << 20).contains(&bytes), "{bytes}");
    assert!(confined.device().unwrap().name.starts_with("loop"));
    assert!(confined.is_direct_io().is_some());
    drop(confined);
    assert_nothing_left(parent.path());
}

/// Makes a command run in the confinement from its first instruction.
fn enter(confined: &Confined, command: &mut Command) {
    let entrance = confined.entrance().unwrap();
    // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
    unsafe { command.pre_exec(move || entrance.enter()) };
}

/// Runs a shell script in the confinement.
fn inside(confined: &Confined, script: &str) -> std::process::Output {
    let mut command = Command::new("sh");
    enter(confined, &mut command);
    command.args(["-c", script]).output().unwrap()
}

#[dyno_test(privileged)]
fn a_process_that_enters_has_the_memory_and_the_cpus_that_it_was_given() {
    let parent = tempfile::tempdir().unwrap();
    let confined = Confined::create(&everything(), parent.path()).unwrap();
    assert_eq!(confined.memory_limit_bytes(), Some(64 << 20));
    let output = inside(&confined, "grep Cpus_allowed_list /proc/self/status; cat /proc/self/cgroup");
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.starts_with("Cpus_allowed_list:\t0\n"), "{output}");
    assert!(
        output.lines().any(|line| line.contains("memory") && line.contains("/dyno-"))
            || output.lines().any(|line| line.starts_with("0::") && line.contains("/dyno-")),
        "{output}"
    );
    drop(confined);
    assert_nothing_left(parent.path());
}

#[dyno_test(privileged)]
fn what_holds_for_a_process_is_read_back_from_the_kernel() {
    let parent = tempfile::tempdir().unwrap();
    let confined = Confined::create(&everything(), parent.path()).unwrap();
    let mut command = Command::new("sleep");
    enter(&confined, &mut command);
    let mut sleeper = command.arg("1000").spawn().unwrap();
    let found = || -> Vec<String> {
        let differences = confined.read_back(sleeper.id()).differences;
        differences.iter().map(|it| format!("{}: {}, not {}", it.limit, it.found, it.asked)).collect()
    };
    let without_limit = |limits: &[(&str, &str)]| -> Vec<String> {
        limits.iter().map(|(limit, asked)| format!("{limit}: no limit, not {asked}")).collect()
    };
    let io = [("read_iops", "200"), ("write_iops", "200"), ("write_bytes_per_second", "8M")];
    assert_eq!(found(), without_limit(&io), "limits of I/O wait");
    confined.impose_io_limits().unwrap();
    assert_eq!(found(), [""; 0]);

    let group = memory_group(sleeper.id());
    let files = ["memory.limit_in_bytes", "memory.max"].map(|name| group.join(name));
    let file = files.iter().find(|file| file.exists()).unwrap();
    fs::write(file, "50331648").unwrap();
    // In version 1 memory and swap have one limit, so lowering the memory limit also changes the swap. Only the
    // first difference is checked.
    assert_eq!(found()[0], "memory: 48M, not 64M");
    fs::write(file, "67108864").unwrap();
    fs::write(group.parent().unwrap().join("cgroup.procs"), sleeper.id().to_string()).unwrap();
    assert_eq!(found()[0], "memory: no limit, not 64M");

    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    drop(confined);
    assert_nothing_left(parent.path());
}

/// While the volume has credits, the limit in force is higher. It falls to the baseline when writes have used up the
/// credits.
#[dyno_test(privileged)]
fn a_volume_works_at_its_burst_rate_until_its_credits_are_spent() {
    let parent = tempfile::tempdir().unwrap();
    let io = IoLimits::of_iops(100);
    let (burst_iops, burst_credits) = (Some(100_000), Some(200));
    let bursting =
        Confinement { io, burst_iops, burst_credits, volume_bytes: Some(64 << 20), ..Confinement::default() };
    let confined = Confined::create(&bursting, parent.path()).unwrap();
    let mut command = Command::new("sleep");
    enter(&confined, &mut command);
    let mut sleeper = command.arg("1000").spawn().unwrap();
    let limit = || confined.read_back(sleeper.id()).in_force.io.write_iops;
    confined.impose_io_limits().unwrap();
    assert!(limit() > Some(100), "{:?}", limit());
    let file = fs::File::create(confined.volume().unwrap().join("rows")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut at = 0;
    while limit() != Some(100) {
        assert!(Instant::now() < deadline, "{:?} after {at} writes", limit());
        file.write_at(&[1; 4096], at % 1000 * 4096).unwrap();
        file.sync_data().unwrap();
        at += 1;
    }
    // A write with its flush takes a few of the 200 credits, but fewer than ten.
    assert!(at > 20, "{at} writes spent all credits");
    assert_eq!(confined.read_back(sleeper.id()).differences, []);
    confined.lift_io_limits().unwrap();
    assert_eq!(limit(), None);

    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    drop((file, confined));
    assert_nothing_left(parent.path());
}

/// The folder of the group that limits a process's memory.
fn memory_group(pid: u32) -> PathBuf {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let is_memory = |line: &&str| line.contains(":memory:") || line.starts_with("0::");
    let line = groups.lines().find(|line| is_memory(line) && line.contains("/dyno-")).unwrap();
    let path = line.rsplit(':').next().unwrap().trim_start_matches('/');
    let tops = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
    tops.into_iter().map(|top| top.join(path)).find(|folder| folder.exists()).unwrap()
}

#[dyno_test(privileged)]
fn a_process_that_takes_more_memory_than_it_was_given_is_ended_and_counted() {
    let parent = tempfile::tempdir().unwrap();
    let memory_only = Confinement { memory_bytes: Some(32 << 20), ..Confinement::default() };
    let confined = Confined::create(&memory_only, parent.path()).unwrap();
    assert_eq!(confined.oom_kills(), Some(0));
    let [with_limit, without] = [Some(&confined), None].map(|of| MemoryKills::so_far(of, true));
    // `tail` keeps a line in memory until the line ends, and this line does not end.
    let output = inside(&confined, "head -c 300000000 /dev/zero | tail -n 1 | wc -c");
    assert!(confined.oom_kills().unwrap() > 0, "{output:?}");
    let told = with_limit.since(Some(&confined)).unwrap();
    assert!(told.contains("for lack of memory beyond its limit of 32 MiB"), "{told}");
    // In version 2 the root group has no count, so the host's count is used. The message must say so.
    let told = without.since(None);
    assert!(told.iter().all(|told| told.contains("of this host")), "{told:?}");
    assert!(confined.volume().is_none());
    drop(confined);
    assert_nothing_left(parent.path());
}

#[dyno_test(privileged)]
fn a_full_volume_is_full_for_the_server_and_not_for_the_disk_below() {
    let parent = tempfile::tempdir().unwrap();
    let confined = Confined::create(&everything(), parent.path()).unwrap();
    let mut file = fs::File::create(confined.volume().unwrap().join("rows")).unwrap();
    let chunk = vec![1; 1 << 20];
    let error = (0..100).find_map(|_| file.write_all(&chunk).err()).expect("100 MiB fit into 64");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    fs::write(parent.path().join("beside"), "room").unwrap();
    fs::remove_file(parent.path().join("beside")).unwrap();
    drop((file, confined));
    assert_nothing_left(parent.path());
}

#[dyno_test(privileged)]
fn a_volume_larger_than_the_disk_is_refused_and_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let confinement = Confinement { volume_bytes: Some(1 << 60), ..everything() };
    let error = Confined::create(&confinement, parent.path()).unwrap_err();
    assert!(matches!(error, ConfineError::Space { .. }), "{error}");
    assert_nothing_left(parent.path());
}
