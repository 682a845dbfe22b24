use std::fs;
use std::process::{Child, Command};

use super::*;

/// A child that is killed at the end of the test.
struct Running(Child);

impl Running {
    fn start(program: &str, arguments: &[&str]) -> Self {
        Self(Command::new(program).args(arguments).spawn().unwrap())
    }

    fn open(&self) -> Process {
        Process::open(self.0.id()).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Samples until a condition holds, and returns the usage at that time.
fn usage_until(process: &mut Process, holds: impl Fn(&ProcessUsage) -> bool) -> ProcessUsage {
    let first = process.sample().unwrap();
    loop {
        let usage = process.sample().unwrap().since(&first);
        if holds(&usage) {
            return usage;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_busy_process_burns_user_time() {
    let child = Running::start("sh", &["-c", "while :; do :; done"]);
    let usage = usage_until(&mut child.open(), |usage| usage.user_cpu_us + usage.system_cpu_us > 200_000);
    assert!(usage.user_cpu_us > usage.system_cpu_us, "{usage:?}");
}

#[test]
fn a_process_that_asks_the_kernel_for_everything_burns_system_time_and_calls() {
    let child = Running::start("dd", &["if=/dev/zero", "of=/dev/null", "bs=1M"]);
    let usage = usage_until(&mut child.open(), |usage| usage.system_cpu_us > 200_000);
    assert!(usage.system_cpu_us > usage.user_cpu_us, "{usage:?}");
    assert!(usage.read_calls > Some(10) && usage.write_calls > Some(10), "{usage:?}");
}

#[test]
fn a_process_that_waits_switches_because_it_wants_to() {
    let child = Running::start("sh", &["-c", "while :; do sleep 0.001; done"]);
    let usage = usage_until(&mut child.open(), |usage| usage.voluntary_context_switches > 20);
    assert!(usage.voluntary_context_switches > usage.involuntary_context_switches, "{usage:?}");
}

#[test]
fn bytes_written_to_storage_are_counted() {
    // The folder is beside the test's program, because the folder for temporary files may be in memory, not on a
    // disk.
    let folder = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
    let is_on_disk = crate::Device::of_path(folder.path()).is_some();
    let mut process = Process::open(std::process::id()).unwrap();
    let before = process.sample().unwrap();
    let file = fs::File::create(folder.path().join("file")).unwrap();
    std::io::Write::write_all(&mut &file, &vec![1; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    let usage = process.sample().unwrap().since(&before);
    assert!(usage.write_bytes >= Some(if is_on_disk { 1 << 20 } else { 0 }), "{usage:?}");
}

#[test]
fn switches_of_threads_that_ended_stay_counted() {
    let mut process = Process::open(std::process::id()).unwrap();
    let first = process.sample().unwrap();
    let (ask, asked) = std::sync::mpsc::channel();
    let (answer, answered) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || asked.iter().for_each(|()| answer.send(()).unwrap()));
    for _ in 0..1000 {
        ask.send(()).unwrap();
        answered.recv().unwrap();
    }
    let alive = process.sample().unwrap().since(&first);
    drop(ask);
    thread.join().unwrap();
    let ended = process.sample().unwrap().since(&first);
    assert!(alive.voluntary_context_switches > 0, "{alive:?}");
    assert!(ended.voluntary_context_switches >= alive.voluntary_context_switches, "{alive:?} {ended:?}");
}

#[test]
fn a_process_that_ended_is_an_error_reaped_or_not() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = child.id();
    let mut process = Process::open(pid).unwrap();
    process.sample().unwrap();
    child.kill().unwrap();
    let error = loop {
        if let Err(error) = process.sample() {
            break error;
        }
    };
    assert!(matches!(error, SampleError::ProcessEnded { pid: ended } if ended == pid), "{error}");
    child.wait().unwrap();
    let error = process.sample().unwrap_err();
    assert!(matches!(error, SampleError::ProcessEnded { .. }), "{error}");
    let error = Process::open(pid).unwrap_err();
    assert!(matches!(error, SampleError::ProcessEnded { .. }), "{error}");
}

fn sample(cpu_ns: u64, user_ticks: u64, system_ticks: u64) -> ProcessSample {
    ProcessSample {
        cpu_ns,
        user_ticks,
        system_ticks,
        reaped_user_ticks: 0,
        reaped_system_ticks: 0,
        switches: Switches::default(),
        io: None,
        rss_bytes: 0,
        threads: 1,
    }
}

#[test]
fn ticks_split_the_exact_time_and_do_not_change_it() {
    let split = |later: ProcessSample, earlier| {
        let usage = later.since(&earlier);
        (usage.user_cpu_us, usage.system_cpu_us)
    };
    assert_eq!(split(sample(1_000_000_000, 30, 10), sample(0, 0, 0)), (750_000, 250_000));
    assert_eq!(split(sample(9_999_000, 1, 1), sample(0, 1, 0)), (0, 9_999), "the only tick was the kernel's");
    assert_eq!(
        split(sample(1_004_000_000, 30, 10), sample(1_000_000_000, 30, 10)),
        (3_000, 1_000),
        "no tick yet"
    );
    assert_eq!(split(sample(4_000, 0, 0), sample(0, 0, 0)), (4, 0), "never a tick");
}

#[test]
fn what_may_not_be_seen_is_unknown_and_not_zero() {
    let usage = sample(1, 0, 0).since(&sample(0, 0, 0));
    assert_eq!((usage.read_bytes, usage.write_calls), (None, None));
}

/// Samples a tree until it has used more than `wanted_us` of CPU time since the sample `first`.
fn tree_cpu_us_beyond(tree: &mut ProcessTree, first: &ProcessSample, wanted_us: u64) -> ProcessSample {
    loop {
        let sample = tree.sample().unwrap();
        let usage = sample.since(first);
        if usage.user_cpu_us + usage.system_cpu_us > wanted_us {
            return sample;
        }
        std::thread::yield_now();
    }
}

#[test]
fn what_children_do_counts_and_stays_counted_when_they_end() {
    // The shell prints the pid of its busy grandchild, and waits for the end of its input.
    let script = "sh -c '(while :; do :; done) & echo $!; wait' & read line; wait";
    let mut shell = Command::new("sh")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut busy = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.stdout.take().unwrap()), &mut busy)
        .unwrap();
    let busy: i32 = busy.trim().parse().unwrap();
    let shell = Running(shell);

    let mut tree = ProcessTree::open(shell.0.id()).unwrap();
    let first = tree.sample().unwrap();
    let busy_for = tree_cpu_us_beyond(&mut tree, &first, 100_000);
    let alone = shell.open().sample().unwrap();
    assert!(alone.cpu_ns < busy_for.cpu_ns, "{alone:?}, {busy_for:?}");

    rustix::process::kill_process(
        rustix::process::Pid::from_raw(busy).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    // Until the child's parent has reaped it, the child is still a process of the tree.
    while fs::exists(format!("/proc/{busy}")).unwrap() {
        std::thread::yield_now();
    }
    let after = tree.sample().unwrap();
    assert!(after.cpu_ns >= busy_for.cpu_ns, "{busy_for:?}, {after:?}");
    assert!(after.threads < busy_for.threads, "{busy_for:?}, {after:?}");
}

#[test]
fn a_child_that_nobody_has_reaped_counts_to_its_end() {
    // The shell becomes a program that never reaps its child.
    let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let shell = Running::start("sh", &["-c", &format!("sh -c '{busy}' & exec sleep 60")]);
    let mut tree = ProcessTree::open(shell.0.id()).unwrap();
    let is_zombie = || {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", shell.0.id())).unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", children.trim())).unwrap_or_default();
        stat.contains(") Z ")
    };
    while !is_zombie() {
        std::thread::yield_now();
    }
    let sample = tree.sample().unwrap();
    assert!(sample.cpu_ns > 50_000_000, "{sample:?}");
}

#[test]
fn a_child_that_lived_between_two_samples_counts_when_it_is_reaped() {
    let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let shell = Command::new("sh")
        .args(["-c", &format!("read line; sh -c '{busy}'; echo done; read line")])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut shell = Running(shell);
    let mut tree = ProcessTree::open(shell.0.id()).unwrap();
    let first = tree.sample().unwrap();
    std::io::Write::write_all(shell.0.stdin.as_mut().unwrap(), b"go\n").unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.0.stdout.take().unwrap()), &mut line)
        .unwrap();
    let usage = tree.sample().unwrap().since(&first);
    assert!(usage.user_cpu_us + usage.system_cpu_us > 50_000, "{usage:?}");
}

#[test]
fn what_a_grandchild_did_between_two_samples_counts_if_its_parent_reaped_it() {
    let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let inner = format!("echo $$; read go; ({busy}); echo done; read end");
    let mut shell = Command::new("sh")
        .args(["-c", &format!("sh -c '{inner}'; true")])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut go = shell.stdin.take().unwrap();
    let mut said = std::io::BufRead::lines(std::io::BufReader::new(shell.stdout.take().unwrap()));
    let shell = Running(shell);
    let inner = Process::open(said.next().unwrap().unwrap().parse().unwrap()).unwrap();
    let mut tree = ProcessTree::open(shell.0.id()).unwrap();
    let first = tree.sample().unwrap();
    std::io::Write::write_all(&mut go, b"go\n").unwrap();
    assert_eq!(said.next().unwrap().unwrap(), "done");
    let used = tree.sample().unwrap().since(&first);
    let reaped = inner.reaped_ticks().unwrap();
    let reaped_us = (reaped.0 + reaped.1) * 1_000_000 / procfs::ticks_per_second();
    assert!(reaped_us > 0, "the loop takes some ticks");
    assert!(
        used.user_cpu_us + used.system_cpu_us >= reaped_us,
        "{used:?}, of which {reaped_us} µs were reaped"
    );
}
