use procfs::FromBufRead;
use procfs::process::MountInfos;

use super::*;

fn mounts(mountinfo: &str) -> Vec<MountInfo> {
    MountInfos::from_buf_read(mountinfo.as_bytes()).unwrap().0
}

#[test]
fn a_diskstats_line_is_read_to_its_last_field() {
    let line = " 254 0 vda 49741 7788 4805850 31096 7998 17740 1431008 7862 0 15108 39845 3700 129 286720 856 652 29";
    let sample = DeviceSample::from(&DiskStat::from_line(line).unwrap());
    let since_boot = sample.since(&DeviceSample(DeviceUsage {
        reads: 0,
        read_bytes: 0,
        writes: 0,
        write_bytes: 0,
        flushes: Some(0),
        busy_ms: 0,
    }));
    let expected = DeviceUsage {
        reads: 49_741,
        read_bytes: 4_805_850 * 512,
        writes: 7_998,
        write_bytes: 1_431_008 * 512,
        flushes: Some(652),
        busy_ms: 15_108,
    };
    assert_eq!(since_boot, expected);
}

#[test]
fn kernels_before_5_5_do_not_count_flushes() {
    let line = " 8 0 sda 1 0 8 0 2 0 16 0 0 5 5";
    let sample = DeviceSample::from(&DiskStat::from_line(line).unwrap());
    assert_eq!(sample.since(&sample).flushes, None);
}

#[test]
fn memory_is_no_device() {
    assert_eq!(Device::of_path(Path::new("/proc/self")), None);
    assert_eq!(Device::of_path(Path::new("/no/such/path")), None);
}

#[test]
fn a_device_that_was_pulled_is_an_error() {
    let error = Device { name: "nosuch0n1".to_owned() }.sample().unwrap_err();
    assert!(matches!(error, SampleError::DeviceGone { ref name } if name == "nosuch0n1"), "{error}");
}

#[test]
fn every_block_device_is_found_by_its_number_and_a_partition_is_its_disk() {
    for entry in fs::read_dir("/sys/dev/block").unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let (major, minor) = name.split_once(':').unwrap();
        let number = libc::makedev(major.parse().unwrap(), minor.parse().unwrap());
        let device = Device::of_number(number).unwrap();
        let is_disk = Path::new("/sys/block").join(device.name.replace('/', "!")).exists();
        assert!(is_disk, "{name} gave {}", device.name);
        device.sample().unwrap();
    }
    assert_eq!(Device::of_number(libc::makedev(0, 1)), None);
}

#[test]
fn a_path_is_in_the_deepest_mount_and_in_the_last_of_equals() {
    let mounts = mounts(
        "21 1 0:20 / / rw - overlay overlay rw,upperdir=/upper\n\
         22 21 0:21 / /data rw - tmpfs tmpfs rw\n\
         23 21 0:22 / /data rw - btrfs /dev/vdb rw\n\
         24 21 0:23 / /database rw - nfs server:/x rw\n",
    );
    let source = |path: &str| mount_of(Path::new(path), &mounts).unwrap().mount_source.clone().unwrap();
    assert_eq!(source("/data/mysql"), "/dev/vdb");
    assert_eq!(source("/database/mysql"), "server:/x");
    assert_eq!(source("/var/lib"), "overlay");
}

#[test]
fn an_overlay_stands_for_what_is_under_its_upper_layer() {
    // /proc has no device, so the result depends only on its mount, which is a made-up overlay here.
    let device_of_proc = |overlay: &str| {
        let mut all = procfs::process::Process::myself().unwrap().mountinfo().unwrap().0;
        all.extend(mounts(overlay));
        Device::of_canonical_path(Path::new("/proc/self"), &all, 0)
    };
    let upper = env!("CARGO_MANIFEST_DIR");
    let through_overlay =
        device_of_proc(&format!("21 1 0:20 / /proc rw - overlay overlay rw,lowerdir=/l,upperdir={upper}\n"));
    assert_eq!(through_overlay, Device::of_path(Path::new(upper)));
    let endless = device_of_proc("21 1 0:20 / /proc rw - overlay overlay rw,upperdir=/proc\n");
    assert_eq!(endless, None);
}
