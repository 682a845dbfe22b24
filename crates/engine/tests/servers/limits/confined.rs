//! Servers whose resources are limited. These tests need root and loop devices. A test for which something is missing
//! is ignored, and the reason is reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::testing::{confined, start_inside};
use dyno_engine::{Client, Installation, Server, StartOptions, remove_dead_homes, start};
use dyno_host::{Confined, Confinement, DeviceUsage, IoLimits, remove_leftovers};
use dyno_testing::dyno_test;
use tempfile::TempDir;

use crate::killed::{actor, kill};
use crate::leftovers::{are_dead, assert_nothing_left, processes_of, wait_until};

/// Limit of the operations per second. Every disk can do more, so servers wait for the limit.
const IOPS: u64 = 100;
const WINDOW: Duration = Duration::from_secs(4);
const WINDOWS_MAX: usize = 15;
const ROWS: u64 = 200_000;
const CLIENTS: u64 = 4;
const INNODB: &str = "mariadb@10.11";
const MYROCKS: &str = "mariadb@10.11/rocksdb";

/// Settings that make InnoDB read from the volume: the server's own cache is small, and the kernel's cache is not used.
const UNCACHED_INNODB: &[(&str, &str)] = &[
    ("innodb_buffer_pool_size", "6M"),
    ("innodb_flush_method", "O_DIRECT"),
    // With native AIO, cleaning the buffer pool would request hundreds of writes at once. Version 1 of cgroups counts
    // them when they are requested, so the count would not match the writes that the device gets.
    ("innodb_use_native_aio", "OFF"),
];

/// The same for MyRocks.
const UNCACHED_MYROCKS: &[(&str, &str)] = &[
    ("rocksdb_block_cache_size", "2M"),
    ("rocksdb_use_direct_reads", "ON"),
    ("rocksdb_use_direct_io_for_flush_and_compaction", "ON"),
    ("rocksdb_default_cf_options", "compression=kNoCompression"),
];

pub(crate) fn limited_io() -> Confinement {
    Confinement { io: IoLimits::of_iops(IOPS), volume_bytes: Some(512 << 20), ..Confinement::default() }
}

fn narrow() -> Confinement {
    Confinement {
        server_cpus: Some("0".parse().unwrap()),
        memory_bytes: Some(512 << 20),
        ..Confinement::default()
    }
}

fn confine(confinement: &Confinement, parent: &Path) -> Arc<Confined> {
    Arc::new(Confined::create(confinement, parent).unwrap())
}

/// Starts a server that reads from the volume, fills a table that is larger than the server's cache, and then puts the
/// limits in force.
fn loaded(confined: &Arc<Confined>, installation: &Installation, system: &str) -> Server {
    let settings = if system == MYROCKS { UNCACHED_MYROCKS } else { UNCACHED_INNODB };
    let server = start_inside(confined, installation, system, settings);
    confined.lift_io_limits().unwrap();
    server.query("CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(200) NOT NULL)").unwrap();
    let text = "CONCAT(MD5(seq), MD5(seq + 1), MD5(seq + 2), MD5(seq + 3), MD5(seq + 4))";
    server.query(&format!("INSERT INTO t SELECT seq, 0, {text} FROM seq_1_to_{ROWS}")).unwrap();
    if system == MYROCKS {
        server.query("SET GLOBAL rocksdb_force_flush_memtable_and_lzero_now = ON").unwrap();
    }
    confined.impose_io_limits().unwrap();
    server
}

/// The operations on the volume in a window of time.
#[derive(Debug)]
struct Window {
    /// The operations according to the device's counters.
    usage: DeviceUsage,
    /// The writes as the kernel counts them for the limit. Version 1 of cgroups counts a write when it is requested,
    /// not when the device gets it. So this count is right only for a server that has few writes waiting at a time.
    limited_writes: u64,
    seconds: f64,
}

impl Window {
    fn watch(confined: &Confined) -> Self {
        let device = confined.device().unwrap();
        let writes = || confined.io_counts().unwrap().writes;
        let (first, first_writes, begin) = (device.sample().unwrap(), writes(), Instant::now());
        thread::sleep(WINDOW);
        let usage = device.sample().unwrap().since(&first);
        Self { usage, limited_writes: writes() - first_writes, seconds: begin.elapsed().as_secs_f64() }
    }
}

/// Observes the volume in several windows of time while clients work. If the rate in a window exceeds the limit by more
/// than a tenth, the mean of this window and the previous one must exceed the limit by at most a tenth. On a busy
/// machine some windows may be below the limit, but not all.
fn assert_held_to(
    limit: u64,
    count: fn(&Window) -> u64,
    confined: &Confined,
    server: &Server,
    sql: fn(u64) -> String,
) {
    let connect = |client| (client, server.connect(Duration::from_secs(60)).unwrap());
    let connections: Vec<_> = (0..CLIENTS).map(connect).collect();
    let stop = AtomicBool::new(false);
    let (mut first, mut windows) = (None, Vec::new());
    let ratio = |window: &Window| count(window) as f64 / window.seconds / limit as f64;
    thread::scope(|scope| {
        for (client, connection) in connections {
            let stop = &stop;
            scope.spawn(move || work(connection, client, sql, stop));
        }
        // The first window may exceed the limit: the clients may use up operations that were allowed while the server
        // was idle.
        first = Some(Window::watch(confined));
        while windows.len() < WINDOWS_MAX && windows.last().is_none_or(|last| ratio(last) < 0.9) {
            windows.push(Window::watch(confined));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let ratios: Vec<f64> = first.iter().chain(&windows).map(ratio).collect();
    let held = |pair: &[f64]| pair[1] <= 1.1 || pair[0] + pair[1] <= 2.0 * 1.1;
    assert!(ratios.windows(2).all(held), "more than {limit} a second: {first:?}, {windows:?}");
    assert!(ratios[1..].iter().any(|&ratio| ratio >= 0.9), "less than {limit} a second: {windows:?}");
}

fn work(mut connection: Client, client: u64, sql: fn(u64) -> String, stop: &AtomicBool) {
    // Random numbers by splitmix64 (Steele and Vigna), so that all rows are equally likely.
    let mut state = client << 32;
    while !stop.load(Ordering::Relaxed) {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        connection.query(&sql((mixed ^ (mixed >> 31)) % ROWS + 1)).unwrap();
    }
}

#[dyno_test(confined(&[INNODB, MYROCKS], limited_io))]
fn a_server_reads_no_faster_than_it_may(installation: &Installation, system: &str) {
    let folder = fast_folder();
    let confined = confine(&limited_io(), folder.path());
    let server = loaded(&confined, installation, system);
    let count = |window: &Window| window.usage.reads;
    assert_held_to(IOPS, count, &confined, &server, |id| format!("SELECT c FROM t WHERE id = {id}"));
    server.stop().unwrap();
    drop(confined);
    assert_nothing_left(folder.path());
}

/// Checks the rate of writes. Only the kernel's count for the limit equals the limit: on the way to the device,
/// neighbouring writes may be merged, and flushes are added. If the device's count is larger, it is checked instead.
#[dyno_test(confined(&[INNODB, MYROCKS], limited_io))]
fn a_server_commits_no_faster_than_it_may(installation: &Installation, system: &str) {
    let folder = fast_folder();
    // Reads are not limited, because commits would wait for reads too.
    let io = IoLimits { write_iops: Some(IOPS), ..IoLimits::default() };
    let confined = confine(&Confinement { io, ..limited_io() }, folder.path());
    let server = loaded(&confined, installation, system);
    let count = |window: &Window| window.limited_writes.max(window.usage.writes);
    assert_held_to(IOPS, count, &confined, &server, |id| format!("UPDATE t SET k = k + 1 WHERE id = {id}"));
    server.stop().unwrap();
    drop(confined);
    assert_nothing_left(folder.path());
}

/// Returns a folder in memory if there is enough memory, because the disk may be busy with other work.
fn fast_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let free = rustix::fs::statvfs(memory).map_or(0, |facts| facts.f_bavail * facts.f_frsize);
    if free > 4 << 30 { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

#[dyno_test(confined(&[INNODB, "postgres@18.4"], narrow))]
fn a_server_has_the_cpu_and_the_memory_it_was_given(installation: &Installation, system: &str) {
    let folder = tempfile::tempdir().unwrap();
    let confined = confine(&narrow(), folder.path());
    let server = start_inside(&confined, installation, system, &[]);
    let status = fs::read_to_string(format!("/proc/{}/status", server.access().pid)).unwrap();
    assert!(status.lines().any(|line| line == "Cpus_allowed_list:\t0"), "{status}");
    assert_eq!(confined.memory_limit_bytes(), Some(512 << 20));
    let usage_bytes = confined.memory_usage_bytes().unwrap();
    assert!((1 << 20..=512 << 20).contains(&usage_bytes), "{usage_bytes}");
    server.query("SELECT 1").unwrap();
    server.stop().unwrap();
    drop(confined);
    assert_nothing_left(folder.path());
}

#[dyno_test(confined(&[INNODB], narrow))]
fn it_is_told_that_the_kernel_ended_a_server_for_lack_of_memory(installation: &Installation, _: &str) {
    let folder = tempfile::tempdir().unwrap();
    let confinement = Confinement { memory_bytes: Some(24 << 20), ..Confinement::default() };
    let options = StartOptions {
        confined: Some(confine(&confinement, folder.path())),
        ..StartOptions::new(folder.path())
    };
    let error = start(installation, options).err().expect("a server does not start in 24 MiB");
    assert!(error.to_string().contains("the kernel killed it for lack of memory"), "{error}");
    assert_nothing_left(folder.path());
}

#[dyno_test(confined(&[INNODB], limited_io))]
fn a_volume_that_a_server_does_not_fit_on_is_told(installation: &Installation, _: &str) {
    let folder = tempfile::tempdir().unwrap();
    let confinement = Confinement { volume_bytes: Some(40 << 20), ..limited_io() };
    let options = StartOptions {
        confined: Some(confine(&confinement, folder.path())),
        ..StartOptions::new(folder.path())
    };
    let error = start(installation, options).err().expect("a server does not fit into 40 MiB");
    // Either the server reports that the volume is full, or copying an empty data folder fails.
    let said = error.to_string();
    assert!(said.contains("No space left") || said.contains("failed with error 28"), "{said}");
    assert_nothing_left(folder.path());
}

/// `InnoDB` refuses the row. If the volume also has no room to undo the row, the server ends instead.
#[dyno_test(confined(&[INNODB], limited_io))]
fn a_volume_that_a_server_filled_is_told(installation: &Installation, system: &str) {
    let folder = tempfile::tempdir().unwrap();
    let confinement = Confinement { volume_bytes: Some(200 << 20), ..Confinement::default() };
    let confined = confine(&confinement, folder.path());
    let server = start_inside(&confined, installation, system, &[]);
    server.query("CREATE TABLE t (c LONGBLOB)").unwrap();
    assert_eq!(server.full_volume(), None);
    let insert = |_| server.query("INSERT INTO t VALUES (REPEAT('x', 4000000))").err();
    let error = (0..100).find_map(insert).expect("400 MB fit into 200 MiB").to_string();
    let log = server.log_tail(40).join("\n");
    let is_told_by_server = error.contains("full") || log.contains("Out of disk space");
    // If the server has ended, its last messages may be missing, because the volume has no room for them.
    let is_told = is_told_by_server || server.full_volume().as_deref() == Some("its volume of 200M is full");
    assert!(is_told, "{error}\n{log}");
    server.stop().unwrap();
    drop(confined);
    assert_nothing_left(folder.path());
}

#[dyno_test(confined(&[INNODB], limited_io))]
fn a_killed_maker_leaves_nothing(installation: &Installation, system: &str) {
    let folder = tempfile::tempdir().unwrap();
    let actor = actor("confine", system, folder.path());
    let volume = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path().join("volume");
    assert!(!are_dead(&volume));
    let homes = fs::read_dir(&volume).unwrap().map(|item| item.unwrap().path().join("sockets"));
    let sockets: Vec<PathBuf> = homes.filter_map(|link| fs::read_link(link).ok()).collect();
    assert!(sockets.len() == 1 && sockets[0].is_dir(), "{sockets:?}");

    kill(actor);
    wait_until("the server is dead", || are_dead(&volume));
    assert_eq!(processes_of(folder.path()), [""; 0]);

    // The next run in the folder first removes the sockets, and then mount, control groups and files.
    remove_dead_homes(folder.path()).unwrap();
    assert!(!sockets[0].exists());
    let confined = confine(&limited_io(), folder.path());
    assert!(!volume.exists());
    start_inside(&confined, installation, system, &[]).stop().unwrap();
    drop(confined);
    remove_leftovers(folder.path()).unwrap();
    assert_nothing_left(folder.path());
}
