//! A volume whose disk has a latency, on the real kernel.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dyno_host::{Confined, Confinement};
use dyno_testing::dyno_test;

use crate::left::{assert_nothing_left, mounted_below};
use crate::with_rights;

const LATENCY: Duration = Duration::from_millis(20);

fn slow() -> Confinement {
    let latency_us = Some(LATENCY.as_micros() as u64);
    Confinement { latency_us, volume_bytes: Some(64 << 20), ..Confinement::default() }
}

/// Creates a file of some blocks on a volume, and opens it for reads and writes without the page cache.
fn file_on(volume: &Path, blocks: u64) -> File {
    let path = volume.join("rows");
    let bytes: Vec<u8> = (0..blocks).flat_map(|block| [block as u8; 4096]).collect();
    std::fs::write(&path, bytes).unwrap();
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(&path).unwrap();
    file.sync_all().unwrap();
    file
}

/// A block with an alignment that direct I/O accepts.
#[repr(align(4096))]
struct Block([u8; 4096]);

/// Reads a block, and checks its contents.
fn read(file: &File, block: u64) {
    let mut into = Box::new(Block([0xff; 4096]));
    file.read_exact_at(&mut into.0, block * 4096).unwrap();
    assert!(into.0.iter().all(|byte| *byte == block as u8), "block {block}");
}

/// How long an action takes.
fn time(action: impl FnOnce()) -> Duration {
    let began = Instant::now();
    action();
    began.elapsed()
}

#[dyno_test(with_rights(|| slow().check_rights()))]
fn each_request_to_a_slow_disk_takes_its_time() {
    let parent = tempfile::tempdir().unwrap();
    let confined = Confined::create(&slow(), parent.path()).unwrap();
    let volume = confined.volume().unwrap();
    assert!(mounted_below(parent.path()).contains(&volume.to_owned()), "the volume is mounted");
    let file = file_on(volume, 8);
    confined.impose_io_limits().unwrap();
    let me = std::process::id();
    assert_eq!(confined.read_back(me).differences, []);
    assert!(time(|| (0..8).for_each(|block| read(&file, block))) >= 8 * LATENCY);
    // A write, and the flush that makes it durable.
    let write = || {
        file.write_all_at(&Block([7; 4096]).0, 7 * 4096).unwrap();
        file.sync_data().unwrap();
    };
    assert!(time(write) >= 2 * LATENCY);
    read(&file, 7);

    assert!(confined.set_latency(3 * LATENCY));
    let differences = confined.read_back(me).differences;
    assert_eq!((differences[0].limit, differences[0].found.as_str()), ("latency_ms", "60"));
    assert!(time(|| read(&file, 0)) >= 3 * LATENCY);
    confined.restore_latency();
    assert_eq!(confined.read_back(me).differences, []);
    confined.lift_io_limits().unwrap();
    assert_eq!(confined.read_back(me).in_force.latency_us, Some(0));

    drop((file, confined));
    assert_nothing_left(parent.path());
}

#[dyno_test(with_rights(|| slow().check_rights()))]
fn requests_to_a_slow_disk_wait_at_the_same_time() {
    let parent = tempfile::tempdir().unwrap();
    let confined = Confined::create(&slow(), parent.path()).unwrap();
    let file = file_on(confined.volume().unwrap(), 32);
    confined.impose_io_limits().unwrap();
    let reading = || {
        thread::scope(|scope| {
            for first in 0..16 {
                let file = &file;
                scope.spawn(move || (first..first + 16).for_each(|block| read(file, block)));
            }
        });
    };
    let took = time(reading);
    assert!(took >= 16 * LATENCY && took < 16 * 16 * LATENCY, "{took:?}");
    drop((file, confined));
    assert_nothing_left(parent.path());
}
