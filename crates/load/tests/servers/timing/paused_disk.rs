//! Stalls of the disk: the volume of a server is frozen for a while, so that no commit returns. The tests need root
//! and loop devices. If these are missing, the tests are ignored with the reason.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Installation;
use dyno_engine::testing::{confined, start_inside};
use dyno_host::{Confined, Confinement};
use dyno_load::{Frame, Job, Rate, Scheduler, Total, run_job};
use dyno_testing::dyno_test;

use crate::bench::job;

const SYSTEMS: &[&str] = &["mariadb@10.11"];
/// With this setting, each commit waits until the log is on the volume.
const SETTINGS: [(&str, &str); 1] = [("innodb_flush_log_at_trx_commit", "1")];
const COMMITS: &str = "
function thread_init() con = sysbench.sql.driver():connect() end
function event(tid) con:query('UPDATE t SET k = k + 1 WHERE id = ' .. tid + 1) end
";
const CONNECTIONS: u32 = 4;
const RATE: f64 = 200.0;
const PAUSE: Duration = Duration::from_secs(3);
/// When the pause begins, in seconds of the job's measured time.
const PAUSED_AT_SECONDS: f64 = 1.0;
/// The longest latency may be shorter than the pause, but at most by this time. The reason is that its event may have
/// begun during the pause.
const SLACK_SECONDS: f64 = 0.5;

fn volume() -> Confinement {
    Confinement { volume_bytes: Some(512 << 20), ..Confinement::default() }
}

/// The folder where a server's volume is mounted.
struct Disk<'a> {
    folder: &'a Path,
}

/// Runs `check` with a job of commits for some seconds, once for each scheduler. The job's server has a volume of its
/// own.
fn on_a_volume(
    installation: &Installation,
    system: &str,
    seconds: f64,
    check: impl Fn(&Disk<'_>, Job, Scheduler),
) {
    let parent = tempfile::tempdir().expect("a folder");
    let confined = Arc::new(Confined::create(&volume(), parent.path()).expect("a volume"));
    let server = start_inside(&confined, installation, system, &SETTINGS);
    server.query("CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL)").expect("a table");
    server.query(&format!("INSERT INTO t SELECT seq, 0 FROM seq_1_to_{CONNECTIONS}")).expect("rows");
    let disk = Disk { folder: confined.volume().expect("a volume") };
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = job(&server, "commits", COMMITS, "run");
        (job.connections, job.seconds, job.scheduler) = (CONNECTIONS, Some(seconds), scheduler);
        check(&disk, job, scheduler);
    }
    server.stop().expect("it stops");
}

/// A frozen file system (`FIFREEZE`, the kernel's include/uapi/linux/fs.h). Dropping the value thaws the file
/// system.
struct Frozen(File);

const FIFREEZE: libc::Ioctl = 0xC004_5877_u32.cast_signed() as libc::Ioctl;
const FITHAW: libc::Ioctl = 0xC004_5878_u32.cast_signed() as libc::Ioctl;

impl Frozen {
    fn freeze(folder: &Path) -> Self {
        let open = File::open(folder).expect("the volume");
        // SAFETY: the call takes a descriptor and a number, which it ignores.
        let outcome = unsafe { libc::ioctl(open.as_raw_fd(), FIFREEZE, 0) };
        assert_eq!(outcome, 0, "{}", std::io::Error::last_os_error());
        Self(open)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // SAFETY: the call takes a descriptor and a number, which it ignores.
        unsafe { libc::ioctl(self.0.as_raw_fd(), FITHAW, 0) };
    }
}

/// How long the disk was paused.
#[derive(Clone, Copy, Debug)]
struct Pause {
    seconds: f64,
    /// The part of the pause that lies within the job's measured time, by the job's clock.
    before_end_seconds: f64,
}

impl Disk<'_> {
    /// Runs a job during which the disk pauses.
    fn run(&self, job: Job) -> (Total, Pause) {
        let job_seconds = job.seconds.expect("a time");
        let (mut seconds, mut total, mut left_seconds) = (0.0, None, 0.0);
        thread::scope(|scope| {
            let mut pause = None;
            run_job(job, &AtomicBool::new(false), &mut |frame| match frame {
                Frame::Tick(tick) => {
                    seconds += tick.seconds;
                    if seconds >= PAUSED_AT_SECONDS && pause.is_none() {
                        // The disk is frozen before the next tick, so that the job's time does not end before the
                        // pause begins.
                        let began = Instant::now();
                        let frozen = Frozen::freeze(self.folder);
                        // Freezing first writes data to the disk, which may take a good part of a second.
                        left_seconds = job_seconds - seconds - began.elapsed().as_secs_f64();
                        pause = Some(scope.spawn(move || hold(frozen)));
                    }
                }
                Frame::Finished(finished) => total = Some(finished),
                Frame::Failed { message, .. } => panic!("{message}"),
                _ => {}
            });
            let seconds = pause.expect("the pause began").join().expect("the disk was thawed");
            (total.expect("a total"), Pause { seconds, before_end_seconds: left_seconds.clamp(0.0, seconds) })
        })
    }
}

/// Keeps the disk frozen for the pause. Returns the length of the pause, in seconds.
fn hold(frozen: Frozen) -> f64 {
    let began = Instant::now();
    thread::sleep(PAUSE);
    let seconds = began.elapsed().as_secs_f64();
    drop(frozen);
    seconds
}

/// Checks that the greatest latency is about as long as the pause.
fn assert_pause_counts(total: &Total, pause: &Pause, scheduler: Scheduler) {
    let max_seconds = total.latency.histogram().max() as f64 / 1e6;
    assert!(max_seconds >= pause.seconds - SLACK_SECONDS, "{scheduler:?}: {max_seconds} s");
}

#[dyno_test(confined(SYSTEMS, volume))]
fn a_pause_amid_a_closed_loop_is_a_gap_and_a_latency(installation: &Installation, system: &str) {
    let seconds = PAUSED_AT_SECONDS + 2.0 * PAUSE.as_secs_f64();
    on_a_volume(installation, system, seconds, |disk, job, scheduler| {
        let (total, pause) = disk.run(job);
        assert_pause_counts(&total, &pause, scheduler);
        let gaps = total.gaps.expect("gaps");
        assert!(gaps.longest_seconds >= pause.seconds - SLACK_SECONDS, "{scheduler:?}: {gaps:?}");
        assert!(gaps.longest_began_seconds >= PAUSED_AT_SECONDS - SLACK_SECONDS, "{scheduler:?}: {gaps:?}");
        assert_eq!(total.unfinished, 0, "{scheduler:?}");
    });
}

#[dyno_test(confined(SYSTEMS, volume))]
fn a_pause_amid_a_rate_delays_all_that_was_due(installation: &Installation, system: &str) {
    let seconds = PAUSED_AT_SECONDS + 2.0 * PAUSE.as_secs_f64();
    on_a_volume(installation, system, seconds, |disk, mut job, scheduler| {
        job.rate = Some(Rate::steady(RATE));
        let (total, pause) = disk.run(job);
        assert_pause_counts(&total, &pause, scheduler);
        let latency = total.latency.histogram();
        let slow = latency.len() - latency.count_between(0, 1_000_000);
        let due = RATE * (pause.seconds - 1.0);
        assert!(slow as f64 >= due / 2.0, "{scheduler:?}: {slow} of about {due} waited for a second");
        let gaps = total.gaps.expect("gaps");
        assert!(gaps.longest_seconds >= pause.seconds - SLACK_SECONDS, "{scheduler:?}: {gaps:?}");
    });
}

/// The measured time ends during the pause, and the job waits for the events in flight.
#[dyno_test(confined(SYSTEMS, volume))]
fn a_pause_at_the_end_of_a_closed_loop_is_a_latency(installation: &Installation, system: &str) {
    on_a_volume(installation, system, PAUSED_AT_SECONDS + 1.0, |disk, job, scheduler| {
        let (total, pause) = disk.run(job);
        assert_pause_counts(&total, &pause, scheduler);
        let all = total.counts.events + u64::from(CONNECTIONS);
        assert_eq!(total.latency.histogram().len(), all, "{scheduler:?}");
        let gaps = total.gaps.expect("gaps");
        assert!(gaps.last_seconds >= pause.before_end_seconds - SLACK_SECONDS, "{scheduler:?}: {gaps:?}");
    });
}

#[dyno_test(confined(SYSTEMS, volume))]
fn a_pause_at_the_end_of_a_rate_leaves_a_backlog(installation: &Installation, system: &str) {
    on_a_volume(installation, system, PAUSED_AT_SECONDS + 1.0, |disk, mut job, scheduler| {
        job.rate = Some(Rate::steady(RATE));
        let (total, pause) = disk.run(job);
        assert_pause_counts(&total, &pause, scheduler);
        let due = RATE * (pause.before_end_seconds - SLACK_SECONDS);
        assert!(total.backlog as f64 >= due / 2.0, "{scheduler:?}: {} of about {due}", total.backlog);
        assert_eq!(total.censored.histogram().len(), total.backlog, "{scheduler:?}: lower bounds");
    });
}

/// The pause is longer than the time for which the job waits for events in flight.
#[dyno_test(confined(SYSTEMS, volume))]
fn commits_that_a_paused_disk_never_ended_count_with_their_age(installation: &Installation, system: &str) {
    on_a_volume(installation, system, PAUSED_AT_SECONDS + 1.0, |disk, mut job, scheduler| {
        job.tuning.end_seconds_max = 0.1;
        let (total, pause) = disk.run(job);
        assert_eq!(total.unfinished, CONNECTIONS, "{scheduler:?}");
        let ages = total.censored.histogram();
        assert_eq!(ages.len(), u64::from(CONNECTIONS), "{scheduler:?}");
        let age = ages.min() as f64 / 1e6;
        assert!(age >= pause.before_end_seconds - SLACK_SECONDS, "{scheduler:?}: {age} s, {pause:?}");
    });
}
