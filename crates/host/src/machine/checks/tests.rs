use std::time::Instant;

use super::*;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn a_host_is_looked_at_and_nothing_is_left_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let checks = checks(folder.path());
    assert!(begin.elapsed().as_secs() < 30);
    assert!(checks.wake_us.is_some() && checks.swap_used_bytes.is_some());
    assert!(checks.free_disk_bytes.is_some());
    assert!(checks.sync_write_us > Some(0));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn governors_are_listed_once_each() {
    let cpus = tree(&[
        ("cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("cpu1/cpufreq/scaling_governor", "performance\n"),
        ("cpu2/cpufreq/scaling_governor", "powersave\n"),
        ("cpufreq/boost", "1\n"),
    ]);
    assert_eq!(governors(cpus.path()).as_deref(), Some("performance, powersave"));
    assert_eq!(governors(tree(&[("cpu0/online", "1")]).path()), None);
}

#[test]
fn each_driver_says_in_its_own_way_whether_turbo_is_on() {
    let is_on = |file, text| turbo(tree(&[(file, text)]).path());
    assert_eq!(is_on("intel_pstate/no_turbo", "1\n"), Some(false));
    assert_eq!(is_on("intel_pstate/no_turbo", "0\n"), Some(true));
    assert_eq!(is_on("cpufreq/boost", "0\n"), Some(false));
    assert_eq!(is_on("cpufreq/boost", "1\n"), Some(true));
    assert_eq!(is_on("cpu0/online", "1\n"), None);
}

#[test]
fn the_word_in_brackets_is_the_one_that_counts() {
    assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
    assert_eq!(chosen("always"), None);
}

#[test]
fn a_machine_is_named_by_what_its_firmware_tells() {
    let dmi = tree(&[("sys_vendor", "QEMU\n"), ("product_name", "Standard PC\n")]);
    assert_eq!(machine(dmi.path()).as_deref(), Some("QEMU Standard PC"));
    assert_eq!(machine(Path::new("/no/such/folder")), None);
}
